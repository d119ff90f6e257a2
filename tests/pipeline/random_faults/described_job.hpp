// The job of a recipe, without its troubles.
#pragma once

#include "pipeline/launch/prepared_job.hpp"
#include "pipeline/random_faults/recipe.hpp"

namespace troupe::test::random_faults {

training_job describe(const recipe& r, std::shared_ptr<file_system> files);
/// Throws if the job cannot be prepared: no recipe is like that.
std::shared_ptr<prepared_job> prepared(const recipe& r, training_job d);
/// One exporter of each rule, with the rule's name.
std::vector<exporter> exporters_of(const recipe& r);

}  // namespace troupe::test::random_faults
