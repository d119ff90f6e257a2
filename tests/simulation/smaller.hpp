// Shrinks a recipe that breaks a rule to a smaller one that breaks the same rule.
#pragma once

#include "pipeline/random_faults/checks.hpp"

namespace troupe::test::random_faults {

struct smaller_recipe {
  recipe what;
  std::vector<finding> findings;  ///< What the smaller recipe breaks.
  int64_t plays = 0;              ///< How many recipes were played.
};
/// Drops runs, troubles, conditions and settings one after another, until no single one can be dropped or `plays_max`
/// recipes were played. `broken` is the first rule that `from` breaks; the result breaks it, too.
smaller_recipe make_smaller(const recipe& from, const std::string& broken, int64_t plays_max = 400);

}  // namespace troupe::test::random_faults
