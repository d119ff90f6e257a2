// An architecture as a part of JSON texts.
#pragma once

#include "ensemble/architecture.hpp"
#include "ensemble/search_json.hpp"

namespace troupe::search_json {

json as_json(const ensemble_member& m);
json as_json(const architecture& a);

// These throw `wrong`.

ensemble_member member_in(const entry& e);
architecture architecture_in(const entry& e);

}  // namespace troupe::search_json
