// The page of the guide that lists every key of a configuration, made from the option tables.
#pragma once

#include "cli/configuration/keys.hpp"

namespace troupe::cli {

/// The type and the unit: "whole number, steps".
std::string type_text(const key_info& key);
/// The values that the key accepts, in Markdown: "at least 1", "`valid`, `same`". Empty if it accepts any value of its
/// type.
std::string range_text(const key_info& key);
/// The page in Markdown: a section for each table, a row for each of its keys.
std::string configure_page();

}  // namespace troupe::cli
