// Makes a trace of what actors have recorded.
#pragma once

#include "words/activity.hpp"

#include <troupe/job_trace.hpp>

namespace troupe {

struct recorded_lane {
  std::string actor;
  activity_recording recorded;
};

/// The trace of steps [first, end): the time in which replicas, the lanes whose names have "replica/", make them. Spans
/// that go beyond it are cut.
job_trace trace_of(int64_t first, int64_t end, const std::vector<recorded_lane>& lanes);

}  // namespace troupe
