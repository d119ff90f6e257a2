// A hook that describes a job in its model directory: the record run.json, and an event file with the hyperparameters
// and the model's graph for TensorBoard.
// Not needed to begin with.
//
//   tr::run_description about{.record = {.resolved = {{"rate", "0.001"}}}, .values = {{"rate", 1e-3}}};
//   about.graph = [=] { return tr::inspect_graph(estimator, input, tr::mode::train, tr::graph_depth::graph_only); };
//   training.hooks.push_back(tr::describe_run("runs/fashion", about));
#pragma once

#include <troupe/hook.hpp>
#include <troupe/inspect.hpp>
#include <troupe/run_record.hpp>

#include <functional>

namespace troupe {

/// What `describe_run` writes.
struct run_description {
  run_record record = {};
  hyperparameters values = {};  ///< Empty: TensorBoard shows no page of them.
  /// Returns the graph; called once the job has begun, on the thread of its hooks. Empty: no graph. Errors are
  /// warnings.
  std::function<expected<graph_description>()> graph = {};
  std::string evaluation = "eval";                    ///< Directory of the evaluation whose metrics are listed.
  std::function<void(const std::string&)> warn = {};  ///< Called with each failure to write. The job continues.
};

/// A hook that writes `record` once a job has begun, unless nothing is left to train. It also writes an event file
/// whose name ends in ".description": the graph, the hyperparameters and, at the end, the names of the metrics and how
/// the job ended. If the directory already has a record with the same `resolved`, the event file is omitted, since the
/// earlier one still applies. The hook requests no steps and delays nothing.
TROUPE_API std::shared_ptr<hook> describe_run(std::string model_dir, run_description what);

}  // namespace troupe
