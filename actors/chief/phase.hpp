// The phases of a chief, drawn in chief.hpp. Users see all except `growing`, `preparing`, `closing`, `ending` and
// `leaving`.
#pragma once

#include <troupe/progress.hpp>

namespace troupe {

enum class chief_phase : uint8_t {
  starting,
  restoring,
  training,
  draining,
  recovering,
  growing,
  preparing,
  closing,
  ending,
  leaving,
  finished,
  failed
};

/// The phase that a job's progress shows. `growing` and `preparing` are shown as training; `closing`, `ending` and
/// `leaving`, in which only the end itself is left to do, are shown as draining.
constexpr job_progress::phase shown(chief_phase p) noexcept {
  switch (p) {
    case chief_phase::starting: return job_progress::phase::starting;
    case chief_phase::restoring: return job_progress::phase::restoring;
    case chief_phase::growing:
    case chief_phase::preparing:
    case chief_phase::training: return job_progress::phase::training;
    case chief_phase::draining:
    case chief_phase::closing:
    case chief_phase::ending:
    case chief_phase::leaving: return job_progress::phase::draining;
    case chief_phase::recovering: return job_progress::phase::recovering;
    case chief_phase::finished: return job_progress::phase::finished;
    case chief_phase::failed: return job_progress::phase::failed;
  }
  return job_progress::phase::failed;
}

}  // namespace troupe
