// What the inputs of a job read: a share each of one dataset, or what an input function returns for each.
#pragma once

#include "pipeline/plan/jobs.hpp"

#include <troupe/input_function.hpp>

namespace troupe {

/// Of the data of a training: one for each input of an input function, or one for all inputs. invalid_argument: rows
/// that the replicas cannot share; errors of `deployed`.
expected<std::vector<dataset>> deployed_inputs(const dataset& input, const training_job& job);

}  // namespace troupe
