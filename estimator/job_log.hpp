// Logs a job's events to the caller's logger.
#pragma once

#include <troupe/hook.hpp>

#include <spdlog/fwd.h>

namespace troupe {

/// Warnings as warn, a failure as error, progress as info once a second and otherwise as debug, the rest as info.
std::shared_ptr<hook> make_job_log(std::shared_ptr<spdlog::logger> logger);

}  // namespace troupe
