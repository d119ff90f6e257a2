// The job of a recipe with several groups.
#pragma once

#include "pipeline/random_faults/recipe.hpp"
#include "support/plans.hpp"

namespace troupe::test::random_faults {

/// The candidate that evaluations and exporters are of; it observes a value.
model evaluated_candidate();
/// Nodes have the names of those of a job with one group: "infeed/0", "replica/0" to the number of all, "reducer", "evaluator".
std::shared_ptr<prepared_job> prepared_groups(const recipe& r, training_job d);
/// Text that is the same for jobs that end in the same state.
std::string key_of(const std::optional<group_recipe>& g);

}  // namespace troupe::test::random_faults
