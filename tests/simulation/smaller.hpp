// Makes a recipe that breaks a rule smaller, as long as it breaks that rule.
#pragma once

#include "pipeline/random_faults/checks.hpp"

namespace troupe::test::random_faults {

struct smaller_recipe {
  recipe what;
  std::vector<finding> findings;  ///< Of the smaller recipe.
  int64_t plays = 0;              ///< How often a recipe was played.
};
/// Drops runs, troubles, conditions and settings, one after another, until no single one can be dropped, or `plays_max` were played.
/// `broken`: the first rule that `from` breaks, which the result breaks, too.
smaller_recipe make_smaller(const recipe& from, const std::string& broken, int64_t plays_max = 400);

}  // namespace troupe::test::random_faults
