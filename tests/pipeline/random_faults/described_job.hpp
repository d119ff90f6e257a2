// The job of a recipe, without its troubles.
#pragma once

#include "pipeline/launch/prepared_job.hpp"
#include "pipeline/random_faults/recipe.hpp"
#include "pipeline/random_faults/troubled_input.hpp"

namespace troupe::test::random_faults {

/// What the host call of a step was given.
struct given_call {
  int64_t step = 0;
  std::vector<float> x;  ///< The rows of the step.
};

/// `given`: where the calls of training go; null: they are made and forgotten.
training_job describe(const recipe& r, std::shared_ptr<file_system> files,
                      std::shared_ptr<std::vector<given_call>> given = nullptr);
/// The data in batches of a whole step of a host; of all hosts, if one input feeds them, and of a replica, if those of
/// a host take turns.
dataset data_of(const recipe& r);
/// The data as the training reads them, with the troubles.
dataset troubled_input_of(const recipe& r, std::shared_ptr<input_troubles> troubles);
/// Throws if the job cannot be prepared: no recipe is like that.
std::shared_ptr<prepared_job> prepared(const recipe& r, training_job d);
/// One exporter of each rule, with the rule's name.
std::vector<exporter> exporters_of(const recipe& r);

}  // namespace troupe::test::random_faults
