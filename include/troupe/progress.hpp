// The progress of a job, which `job::progress` returns at any time (job.hpp). Plain data.
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

/// An evaluation under way within a training job.
struct evaluation_progress {
  std::string name;     ///< As in its eval_spec.
  int64_t step = 0;     ///< The state that is evaluated.
  int64_t batches = 0;  ///< Batches evaluated so far; at most 0.1 s old.
  bool operator==(const evaluation_progress&) const = default;
};

/// A candidate of the open iteration of a search that has not left.
struct candidate_progress {
  std::string spec = {};               ///< "t1_1_layer_dnn_grow_mean"
  double loss = 0;                     ///< The mean of adanet_loss over the steps that were reported last.
  std::optional<double> average = {};  ///< The moving average of adanet_loss at the newest commit; absent: none yet.
  bool leads = false;                  ///< It would win by these averages.
  bool operator==(const candidate_progress&) const = default;
};

struct job_progress {
  enum class phase : uint8_t { starting, restoring, training, draining, recovering, finished, failed };
  phase now = phase::starting;
  int64_t step = 0;                  ///< The state that was reached.
  std::optional<int64_t> max_steps;  ///< The step at which the job will end, if known.
  double loss = 0;                   ///< The mean loss of the steps that were reported last.
  double steps_per_second = 0;
  int64_t committed_step = -1;  ///< The step of this job's last commit; -1: none yet.
  std::map<std::string, std::map<std::string, double>> evaluations;  ///< Last metrics, by the name of the evaluation.
  std::vector<evaluation_progress> evaluating = {};  ///< Evaluations under way, in the order of their eval_specs.
  /// Of a search: the candidates of its open iteration, in their order.
  std::vector<candidate_progress> candidates = {};
  bool paused = false;  ///< After `job::pause`, until `job::resume` or a stop.
};
TROUPE_API std::string_view to_string(job_progress::phase p) noexcept;

}  // namespace troupe
