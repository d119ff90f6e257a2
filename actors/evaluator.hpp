// The evaluator: a small chief over an `evaluate` sub-plan of its own (infeed, replica, outfeed).
#pragma once

#include "actors/exporting.hpp"
#include "actors/hook_roll.hpp"
#include "actors/sub_plan_wait.hpp"
#include "actors/writers/checkpoint_loading.hpp"
#include "compute/engine/metric_totals.hpp"

namespace troupe {

struct evaluator_options {
  std::string name = "evaluator";
  driven_nodes nodes;
  std::shared_ptr<file_system> files;
  std::string directory;                        ///< Empty: freshly initialised variables are evaluated.
  std::shared_ptr<parameter_store> parameters;  ///< The evaluator's own store; its replica is the only reader.
  std::vector<program_output> outputs;             ///< Outputs of the evaluation program.
  metric_functions metrics;                        ///< The functions of the metrics among them, by their index.
  std::optional<int64_t> steps;                 ///< Number of batches; absent: until the end of the data.
  std::vector<std::shared_ptr<hook>> hooks = {};  ///< Called on this actor's own thread; none is null.
  uint64_t seed = 0;
  std::shared_ptr<const start_values> start = {};  ///< What variables begin with where there is no checkpoint; may be null.
  std::chrono::milliseconds silence_max{600'000};  ///< Longest wait for the next batch's values.
  std::vector<stop_rule> rules = {};            ///< Those of the job: predicates are asked here, on this actor's own thread.
  exporting exports = {};                       ///< Null: there are no exporters.
  double wall_offset = 0;                       ///< Unix time, in seconds, at which the actor clock was 0; exports are named by it.
};

/// idle → loading → running → idle. One evaluation at a time; its result is one `evaluated`. It runs once its nodes have been started, which
/// are kept for the next one.
struct evaluator_state {
  static inline const char* name = "evaluator";
  evaluator_actor::stateful_pointer<evaluator_state> self = nullptr;
  evaluator_options options;
  evaluation_sink_actor asker;                  ///< Receives the result: a chief, or a launcher without training.

  sub_plan nodes;                               ///< Kept for the next evaluation, unless a node has ended.
  bool running = false;
  evaluate_at current;
  std::shared_ptr<file_hold> lease;             ///< Protects the checkpoint under evaluation until its result is sent.
  checkpoint_id at;                             ///< The checkpoint under evaluation.
  int32_t attempt = 0;                          ///< The sub-plan's attempt; each evaluation has its own.
  int64_t until = 0;
  sub_plan_wait<evaluator_actor::stateful_pointer<evaluator_state>> waiting;
  std::optional<metric_totals> totals;
  hook_roll hooks;
  size_t loss_at = 0;                           ///< The loss among the outputs of a batch.
  bool stopped = false;                         ///< A hook has ended the evaluation at the batch that it was shown; the nodes still make what was granted.
  caf::actor_clock::time_point began{}, told{};  ///< When the evaluation began, and when its driver last heard how far it is.

  void on_evaluate(const evaluate_at& x);
  expected<void> load();
  void on_started(const started& x);
  void on_state_part(const state_part& x);
  std::optional<int64_t> limit() const;         ///< On the number of batches.
  int64_t ahead() const;                        ///< Batches that are granted beyond those that were handled.
  void extend(int64_t reached);
  void on_progress(const progress& x);
  void on_end(const stream_end& x);
  void on_export(const export_at& x);
  void on_rule(const apply_rule& x);
  /// Shows the hooks a fact. False: one of them threw, and the evaluation has ended.
  bool show_hooks(fact x);
  bool begin_hooks();
  bool show_batch(const step_values& batch);
  void end_hooks(evaluated& result);
  bool calls_hooks() const { return !hooks.empty() && current.batches < 0; }
  void finish(std::optional<error> cause);
  void tell_batches();                          ///< Now and then, to its driver.
};

evaluator_actor::behavior_type evaluator(evaluator_actor::stateful_pointer<evaluator_state> self, evaluator_options options,
                                         evaluation_sink_actor asker);

}  // namespace troupe
