// Turns the user's specs into a job description; checks everything that can be checked before anything is built.
#pragma once

#include "pipeline/plan/job_description.hpp"

#include <troupe/predict.hpp>

namespace troupe {

/// invalid_argument naming the field: the configuration's, then max_steps, steps, epochs, throttle_secs, eval steps; both
/// steps and max_steps; a hook that is null; an evaluation of a job that never saves; step, batches_ahead, keys.
expected<job_description> describe(const estimator& e, const train_spec& training, const std::optional<eval_spec>& evaluation);
expected<job_description> describe(const estimator& e, const eval_spec& evaluation);
expected<job_description> describe(const estimator& e, const predict_spec& prediction);

/// The step at which `epochs` passes over the source end: whole batches of each pass, without the partial last one.
/// invalid_argument where the size of the source is not known; out_of_range where there is no such step.
expected<int64_t> steps_of_epochs(const dataset& input, int64_t epochs);

}  // namespace troupe
