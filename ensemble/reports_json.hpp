// Reports as a part of JSON texts.
#pragma once

#include "ensemble/reports.hpp"
#include "ensemble/search_json.hpp"

namespace troupe::search_json {

json as_json(const search_reports& all);
search_reports reports_in(const entry& e);  ///< Throws `wrong`.

}  // namespace troupe::search_json
