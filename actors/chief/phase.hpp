// The phases of a chief, of which users see all but `ending` (drawn in chief.hpp).
#pragma once

#include <troupe/job.hpp>

namespace troupe {

enum class chief_phase : uint8_t { starting, restoring, training, draining, ending, finished, failed };

/// What a job's progress shows of it: while a chief says the end and waits for its actors, the job drains.
constexpr job_progress::phase shown(chief_phase p) noexcept {
  switch (p) {
    case chief_phase::starting: return job_progress::phase::starting;
    case chief_phase::restoring: return job_progress::phase::restoring;
    case chief_phase::training: return job_progress::phase::training;
    case chief_phase::draining:
    case chief_phase::ending: return job_progress::phase::draining;
    case chief_phase::finished: return job_progress::phase::finished;
    case chief_phase::failed: return job_progress::phase::failed;
  }
  return job_progress::phase::failed;
}

}  // namespace troupe
