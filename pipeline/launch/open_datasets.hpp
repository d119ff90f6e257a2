// Opens the datasets of a plan. Input functions are called here.
#pragma once

#include "pipeline/launch/prepared_job.hpp"

namespace troupe {

/// Opens dataset `number` of the job's plan and finds the structure and the size of its batches, which planning needs.
/// If it cannot be opened, the job fails here, before any model is built. Errors: of the iterators; of
/// `deployed_inputs`; invalid_argument: the inputs of a function differ in their components; an evaluation without
/// steps and without hooks of data that never end.
expected<prepared_dataset> open_dataset(const prepared_job& job, size_t number, const dataset& input);

}  // namespace troupe
