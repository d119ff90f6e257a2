// How far a job is: what `job::progress` returns at any time (job.hpp). Plain data.
// Not needed to begin with.
#pragma once

#include <troupe/api.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

/// An evaluation beside a job, or for which it waits, that is under way.
struct evaluation_progress {
  std::string name;                         ///< As in its eval_spec.
  int64_t step = 0;                         ///< Of the checkpoint that is evaluated.
  int64_t batches = 0;                      ///< Already done, as of at most 0.1 s ago.
  bool operator==(const evaluation_progress&) const = default;
};

struct job_progress {
  enum class phase : uint8_t { starting, restoring, training, draining, recovering, finished, failed };
  phase now = phase::starting;
  int64_t step = 0;
  std::optional<int64_t> max_steps;
  double loss = 0;
  double steps_per_second = 0;
  int64_t committed_step = -1;              ///< -1: none by this job yet.
  std::map<std::string, std::map<std::string, double>> evaluations;  ///< Metrics of the last one of each name.
  std::vector<evaluation_progress> evaluating = {};  ///< Those that are under way, in the order of their eval_specs.
  bool paused = false;                      ///< After `job::pause`, until `job::resume` or a stop.
};
TROUPE_API std::string_view to_string(job_progress::phase p) noexcept;

}  // namespace troupe
