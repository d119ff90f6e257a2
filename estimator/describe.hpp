// Turns the user's specs into jobs of settled policies; checks everything that can be checked before anything is built.
#pragma once

#include "pipeline/plan/jobs.hpp"

#include <troupe/predict.hpp>

namespace troupe {

/// invalid_argument naming the field: the configuration's, then those of the specs; both steps and max_steps; a hook that is null; an
/// evaluation of a job that never saves; two evaluations of one name; a step below 0; a key given twice. Fills in what is a default: where
/// `epochs` end, when checkpoints are saved, the seed, the number of gradient shards.
expected<training_job> describe(const estimator& e, const train_spec& training, const eval_specs& evaluations);
expected<evaluation_job> describe(const estimator& e, const eval_spec& evaluation, const checkpoint_ref& which);
expected<prediction_job> describe(const estimator& e, const predict_spec& prediction);

/// What the exporters of an evaluation do on an occasion; null: there are none. On the final one those of the rule `final` run alone, and on
/// no other.
exporting exporting_of(const estimator& e, const eval_spec& spec);

/// The step at which `epochs` passes over the source end: whole batches of each pass, without the partial last one.
/// invalid_argument where the size of the source is not known; out_of_range where there is no such step.
expected<int64_t> steps_of_epochs(const dataset& input, int64_t epochs);

}  // namespace troupe
