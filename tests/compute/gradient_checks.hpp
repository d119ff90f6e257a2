// The expressions that check gradient rules, by the name of the operation.
#pragma once

#include "tests/compute/gradient_check.hpp"

#include <map>

namespace troupe::test {

using checks_of = std::map<std::string_view, std::vector<check>>;

/// At least one expression for each operation that has a gradient.
const checks_of& gradient_checks();

}  // namespace troupe::test
