// Builds the programs of a plan: graphs, parameter stores, engines.
#pragma once

#include "pipeline/launch/prepared_job.hpp"

namespace troupe {

/// One for each program of the plan, whose datasets are open, from these models. invalid_argument where replicas cannot be fed what their plan says; the
/// errors of the models and of allocation.
expected<void> build_programs(prepared_job& job, const std::vector<std::shared_ptr<const model>>& models);

}  // namespace troupe
