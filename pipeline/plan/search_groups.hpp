// The groups of an iteration of a search: who they are, which outputs they read from one another, and when they retire.
// Nodes are not yet part of it.
#pragma once

#include "ensemble/graphs/models.hpp"
#include "plan/group_hooks.hpp"
#include "plan/plan_group.hpp"

#include <troupe/dataset.hpp>

namespace troupe {

/// Data of a group's own.
struct own_input {
  dataset input;
  std::string who;  ///< "the builder 'dnn'"
};

struct search_group {
  plan_group what;
  std::shared_ptr<const model> source;
  std::vector<std::string> in = {};   ///< The ports that it reads from other groups, sorted.
  std::vector<std::string> out = {};  ///< Those of its ports that others read, sorted.
  std::optional<own_input> own = {};
};

/// The groups of the open iteration in the order in which they are shown, which is that of their numbers: the new
/// candidates, the subnetworks, the previous ensemble. The books have the specs of the iteration; `data` is what the
/// infeed gives. Errors: those of the graphs.
expected<std::vector<search_group>> groups_of(const shared_basis& basis, const iteration_specs& specs,
                                              const search_books& books, const element_spec& data);
/// New hooks of the groups of the open iteration, made by builders and ensemblers. Errors: `state` for a function that
/// throws, and invalid_argument for a hook that is null, naming the group.
expected<group_hooks> hooks_of(const iteration_basis& basis, const iteration_specs& specs,
                               const std::vector<search_group>& all);
/// The group that a port of these groups is of.
const search_group& source_of(const std::vector<search_group>& all, std::string_view port);

/// Finds the group of the candidate that leads by its moving average, from what groups told of themselves and the names
/// of those that have left. Absent: none leads. `books` are those of the plan.
std::function<std::optional<std::string>(const std::map<std::string, double>& told, const std::set<std::string>& left)>
leading_group(choice_rules rules, search_books books);

}  // namespace troupe
