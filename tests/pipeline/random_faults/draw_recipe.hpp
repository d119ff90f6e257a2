// How recipes are drawn.
#pragma once

#include "pipeline/random_faults/recipe.hpp"
#include "support/dice.hpp"

namespace troupe::test::random_faults {

/// The recipe of a seed. If `groups` is set, its number of replicas is used, and the rest of it is drawn.
recipe draw_recipe(uint64_t seed, std::optional<group_recipe> groups);
/// Adds costs, places and the troubles that these make possible to a recipe.
recipe with_time(recipe r);
/// Draws the name of a node of the recipe's job.
std::string draw_node(const recipe& r, dice& d);
/// Draws when a trouble happens. `first`: it follows no other trouble.
moment draw_moment(const recipe& r, dice& d, bool first);

}  // namespace troupe::test::random_faults
