// Builds the programs of a plan: graphs, parameter stores, engines.
#pragma once

#include "pipeline/launch/prepared_job.hpp"

namespace troupe {

/// Builds one program for each program of the plan, from the models of the resources. The job's datasets must be open.
/// Errors: invalid_argument if the replicas cannot be fed as the plan says; the errors of the models and of allocation.
expected<void> build_programs(prepared_job& job, const plan_resources& from);

}  // namespace troupe
