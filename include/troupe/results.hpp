// What training and evaluating come to (estimator.hpp). Plain data.
// Not needed to begin with.
#pragma once

#include <troupe/tensor.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace troupe {

struct train_result {
  int64_t global_step = 0;
  int64_t steps_run = 0;                  ///< Steps made by this call.
  /// Metrics of the last evaluation, of the first eval_spec; without one, the last loss. A job that had ended before has what event files
  /// keep of them: float32, and no arrays.
  std::map<std::string, double> metrics;
  double seconds = 0;
  bool stopped = false;                   ///< Stopped on request, before its end.
  std::string checkpoint;                 ///< Prefix of the last commit, if any.
  std::string remark;                     ///< Why nothing was trained, or that the data ended early.
  std::map<std::string, tensor> arrays = {};  ///< Metrics of the last evaluation that are arrays, float64.
  std::map<std::string, std::map<std::string, double>> evaluations = {};  ///< Metrics of the last evaluation of each name.
  /// Paths of the exports of each evaluation, by its name: of its last occasion, in the order of its exporters, empty where none was due.
  std::map<std::string, std::vector<std::string>> exports = {};
  /// Prefix of the best commit; empty without `keep_best`, or before an evaluation. With `restore_best`, `checkpoint` is the same, and
  /// `metrics` are of its evaluation, if this run made it.
  std::string best_checkpoint = {};
};

struct evaluation_result {
  int64_t global_step = 0;
  std::map<std::string, double> metrics;  ///< With `loss` (mean over batches) and `global_step`.
  int64_t batches = 0;
  double seconds = 0;
  std::string checkpoint;                 ///< Empty: freshly initialised variables.
  std::vector<std::string> warnings = {}; ///< The event file could not be written.
  std::map<std::string, tensor> arrays = {};  ///< Metrics that are arrays, float64.
};

}  // namespace troupe
