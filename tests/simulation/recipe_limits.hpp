// Which recipes can be played.
#pragma once

#include "pipeline/random_faults/recipe.hpp"

namespace troupe::test::random_faults {

/// Describes the first value that is out of range; empty if every value is possible.
std::string impossible(const recipe& r);

}  // namespace troupe::test::random_faults
