// A hook that writes a job's events to the caller's log.
#pragma once

#include <troupe/job.hpp>

namespace troupe {

/// Levels: warnings and recoveries as warning, a failure as error, progress as info once a second and otherwise as
/// debug, all else as info.
std::shared_ptr<hook> make_job_log(std::function<void(log_level, const std::string&)> log);

}  // namespace troupe
