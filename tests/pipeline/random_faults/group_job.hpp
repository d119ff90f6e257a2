// The job of a recipe with several groups.
#pragma once

#include "pipeline/random_faults/recipe.hpp"
#include "support/plans.hpp"

namespace troupe::test::random_faults {

/// The candidate that is evaluated and exported. It observes a value.
model evaluated_candidate();
/// Prepares the job. Its nodes have the names of a job with one group: "infeed/0", "replica/0" up to the total number,
/// "reducer", "evaluator".
std::shared_ptr<prepared_job> prepared_groups(const recipe& r, training_job d);
/// A key that is equal for jobs that end in the same state.
std::string key_of(const std::optional<group_recipe>& g);

}  // namespace troupe::test::random_faults
