// Starts a job in any actor system.
#pragma once

#include "pipeline/launch/launch.hpp"

namespace troupe {

using job_launcher = std::function<std::unique_ptr<running_job>(std::shared_ptr<prepared_job>)>;

/// invalid_argument, or an error of describing and preparing the job; nothing is launched then.
expected<job> start_job(const estimator& e, const train_spec& training, const std::optional<eval_spec>& evaluation,
                        const start_options& options, const job_launcher& launch);

}  // namespace troupe
