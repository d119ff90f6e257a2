// The calls of the Estimator, with a given launcher.
#pragma once

#include "pipeline/launch/launcher.hpp"

#include <troupe/predict.hpp>
#include <troupe/search/searcher.hpp>

namespace troupe {

/// invalid_argument, or an error of describing or preparing the job; nothing is launched then.
expected<job> start_by(launcher& by, const estimator& e, const train_spec& training, const eval_specs& evaluations,
                       const start_options& options);
expected<job> start_by(launcher& by, const searcher& s, const train_spec& training, const eval_specs& evaluations,
                       const start_options& options);
/// Sets the thread of the job's hooks and its log. invalid_argument: a deadline out of its range.
expected<void> embed(training_job& job, const start_options& options);
/// Starts a job that was described; its error otherwise.
expected<job> start_by(launcher& by, expected<training_job> settled, const start_options& options);
expected<evaluation_result> evaluate_by(launcher& by, const estimator& e, const eval_spec& evaluation,
                                        const checkpoint_ref& which);
/// Keeps the launcher, because the stream launches only at its first result.
expected<prediction_stream> predict_by(std::shared_ptr<launcher> by, const estimator& e, const predict_spec& spec);

}  // namespace troupe
