// A model directory that describes itself: a hook that keeps the record of a run there, and for TensorBoard its hyperparameters
// and the graph of its model, in an event file.
// Not needed to begin with.
//
//   tr::run_description about{.record = {.resolved = {{"rate", "0.001"}}}, .values = {{"rate", 1e-3}}};
//   about.graph = [=] { return tr::inspect_graph(estimator, input, tr::mode::train, false); };
//   training.hooks.push_back(tr::describe_run("runs/fashion", about));
#pragma once

#include <troupe/hook.hpp>
#include <troupe/inspect.hpp>
#include <troupe/run_record.hpp>

#include <functional>

namespace troupe {

/// What `describe_run` keeps.
struct run_description {
  run_record record = {};
  hyperparameters values = {};                         ///< None: TensorBoard has no page of them.
  /// Called once the job has begun, on the thread of its hooks; empty: there is no graph. An error is a warning.
  std::function<expected<graph_report>()> graph = {};
  std::string evaluation = "eval";                     ///< The directory of the evaluation whose metrics are listed beside the loss.
  std::function<void(const std::string&)> warn = {};   ///< Told what could not be written; the job goes on.
};

/// A hook that keeps `record` once the job has begun, if it trains at all, and with it an event file of its own, whose name ends in
/// ".description": the graph, the hyperparameters and, at the end, the names of the metrics and how the job ended. Where the directory
/// has a record with the same `resolved`, the event file is left out, since the first one holds still. It requests no step and holds
/// nothing up.
TROUPE_API std::shared_ptr<hook> describe_run(std::string model_dir, run_description what);

}  // namespace troupe
