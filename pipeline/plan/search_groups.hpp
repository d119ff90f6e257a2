// The groups of an iteration of a search: who they are, which outputs they read from one another, and when they retire.
// Nodes are not yet part of it.
#pragma once

#include "ensemble/graphs/models.hpp"
#include "plan/plan_group.hpp"

#include <troupe/dataset.hpp>

namespace troupe {

struct search_group {
  plan_group what;
  std::shared_ptr<const model> source;
  std::vector<std::string> in = {};   ///< The ports that it reads from other groups, sorted.
  std::vector<std::string> out = {};  ///< Those of its ports that others read, sorted.
};

/// The name of the group of the previous ensemble. No spec is called so: their names begin with "t0_" or the like.
inline constexpr std::string_view previous_group_name = "previous";

/// The groups of the open iteration in the order in which they are shown, which is that of their numbers: the new
/// candidates, the subnetworks, the previous ensemble. The books have the specs of the iteration; `data` is what the
/// infeed gives. Errors: those of the graphs.
expected<std::vector<search_group>> groups_of(const shared_basis& basis, const iteration_specs& specs,
                                              const search_books& books, const element_spec& data);
/// The group that a port of these groups is of.
const search_group& source_of(const std::vector<search_group>& all, std::string_view port);

}  // namespace troupe
