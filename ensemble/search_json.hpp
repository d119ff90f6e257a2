// The JSON texts of a search, architectures, reports and books, are read and written with these parts of
// words/json_text.hpp.
#pragma once

#include "words/json_text.hpp"

namespace troupe::search_json {

using json_text::as_json;
using json_text::entry;
using json_text::is_utf8;
using json_text::json;
using json_text::parse;
using json_text::read;
using json_text::text_of;
using json_text::wrong;

}  // namespace troupe::search_json
