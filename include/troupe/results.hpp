// The results of training and evaluating (estimator.hpp). Plain data.
// Not needed to begin with.
#pragma once

#include <troupe/search/architecture.hpp>
#include <troupe/tensor.hpp>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace troupe {

/// How far a search has come (search/searcher.hpp).
struct search_result {
  architecture winner = {};  ///< The ensemble that `winner_of` returns.
  std::string spec = {};     ///< Its name: "t1_1_layer_dnn_grow_complexity_regularized".
  int64_t iteration = 0;     ///< The last one that was begun.
  /// The index of each iteration's winner, the last one's as it stands: search_options::replay_indices to repeat it.
  std::vector<int64_t> replay_indices = {};
};

struct train_result {
  int64_t global_step = 0;  ///< The state at which the job ended.
  int64_t steps_run = 0;    ///< Steps made by this call.
  /// Metrics of the last evaluation by the first eval_spec; without evaluations, the last loss. If the job had ended
  /// before this call, they come from event files: float32, without arrays.
  std::map<std::string, double> metrics;
  double seconds = 0;                         ///< Since the job started, by its clock.
  bool stopped = false;                       ///< Stopped by request, before its end.
  std::string checkpoint;                     ///< Prefix of the last commit, if any.
  std::string remark;                         ///< Why nothing was trained, or that the data ended early.
  std::map<std::string, tensor> arrays = {};  ///< Metrics of the last evaluation that are arrays, float64.
  std::map<std::string, std::map<std::string, double>> evaluations = {};  ///< Last metrics, by name of the evaluation.
  /// Paths of the exports after the last evaluation of each name, in the order of its exporters; empty if none was due.
  std::map<std::string, std::vector<std::string>> exports = {};
  /// Prefix of the best commit; empty without `keep_best` or without an evaluation. With `restore_best`, `checkpoint`
  /// is the same, and `metrics` are those of its evaluation, if this job made it.
  std::string best_checkpoint = {};
  std::optional<search_result> search = {};  ///< Only of a search.
  /// The texts of the job's warnings (`job_event::kind::warning`), such as that a damaged checkpoint was passed over:
  /// the first hundred, then how many more there were. Without one that `remark` has.
  std::vector<std::string> warnings = {};
};

struct evaluation_result {
  int64_t global_step = 0;                ///< Of the checkpoint; of a search that of the search.
  std::map<std::string, double> metrics;  ///< With `loss` (mean over batches) and `global_step`.
  int64_t batches = 0;
  double seconds = 0;
  std::string checkpoint;                     ///< Its prefix; empty: freshly initialised variables.
  std::vector<std::string> warnings = {};     ///< Such as an event file that could not be written.
  std::map<std::string, tensor> arrays = {};  ///< Metrics that are arrays, float64.
};

}  // namespace troupe
