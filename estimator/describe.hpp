// Turns the user's specs into jobs with all settings resolved; checks everything that can be checked before anything is
// built.
#pragma once

#include "pipeline/plan/jobs.hpp"

#include <troupe/predict.hpp>
#include <troupe/search/searcher.hpp>

namespace troupe {

/// invalid_argument, naming the field: first errors of the configuration, then those of the specs, such as both steps
/// and max_steps, a null hook, an evaluation in a job that never saves, two evaluations of one name, a step below 0, a
/// key given twice. Fills in defaults: the end of `epochs`, when checkpoints are saved, the seed, the number of
/// gradient shards.
expected<training_job> describe(const estimator& e, const train_spec& training, const eval_specs& evaluations);
/// Errors: also those of `validate(search_options)`, and a search that never saves.
expected<training_job> describe(const searcher& s, const train_spec& training, const eval_specs& evaluations);
expected<evaluation_job> describe(const estimator& e, const eval_spec& evaluation, const checkpoint_ref& which);
/// Whether this process does not train, but follows the job of a chief: an evaluator, or a ps.
bool follows_a_chief(const estimator& e);
/// The job of such a process. Of `training` only what the evaluations and their rules need is looked at. Errors as
/// above; also invalid_argument for a second evaluator, one without evaluations, and a missing model_dir.
expected<follower_job> describe_follower(const estimator& e, const train_spec& training, const eval_specs& evaluations);
expected<prediction_job> describe(const estimator& e, const predict_spec& prediction);

/// A function that runs the exporters of an evaluation on one occasion; null if there are none. Exporters of the rule
/// `final` run on the final occasion only, and the others on all occasions but that one.
exporting exporting_of(const estimator& e, const eval_spec& spec);

/// What this hook compares if it was made by `reduce_on_plateau`.
std::optional<metric_goal> goal_of_plateau(const hook& h);

/// The step at which `epochs` epochs of the source end, counting only the full batches of each epoch, of which a step
/// takes `batches_a_step`. invalid_argument if the size of the source is not known; out_of_range if there is no such
/// step.
expected<int64_t> steps_of_epochs(const dataset& input, int64_t epochs, int64_t batches_a_step = 1);

}  // namespace troupe
