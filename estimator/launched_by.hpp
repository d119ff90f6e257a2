// The calls of the front door, with the launcher of the caller's choice.
#pragma once

#include "pipeline/launch/launcher.hpp"

#include <troupe/predict.hpp>

namespace troupe {

/// invalid_argument, or an error of describing and preparing the job; nothing is launched then.
expected<job> start_by(launcher& by, const estimator& e, const train_spec& training, const eval_specs& evaluations,
                       const start_options& options);
expected<evaluation_result> evaluate_by(launcher& by, const estimator& e, const eval_spec& evaluation, const checkpoint_ref& which);
/// The stream launches at its first result, so it keeps the launcher.
expected<prediction_stream> predict_by(std::shared_ptr<launcher> by, const estimator& e, const predict_spec& spec);

}  // namespace troupe
