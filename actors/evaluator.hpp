// The evaluator: evaluates checkpoints as the driver of its own `evaluate` sub-plan (infeed, replica, outfeed).
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
  std::string directory;                          ///< Empty: freshly initialised variables are evaluated.
  std::shared_ptr<parameter_store> parameters;    ///< The evaluator's own store; its replica is the only reader.
  std::vector<program_output> outputs;            ///< Outputs of the evaluation program.
  metric_functions metrics;                       ///< The functions of the metrics, by output index.
  std::optional<int64_t> steps;                   ///< Number of batches; absent: until the end of the data.
  std::vector<std::shared_ptr<hook>> hooks = {};  ///< Called on this actor's own thread; no pointer is null.
  uint64_t seed = 0;
  /// Initial values of variables if there is no checkpoint; may be null.
  std::shared_ptr<const start_values> start = {};
  std::chrono::milliseconds silence_max{600'000};  ///< Longest wait for the next batch's values.
  /// The rules of the job; their predicates are called here, on this actor's own thread.
  std::vector<stop_rule> rules = {};
  exporting exports = {};  ///< Null if there are no exporters.
  /// Unix time in seconds at which the actor clock was 0; used for the names of exports.
  double wall_offset = 0;
};

/// idle → loading → running → idle. One evaluation at a time; its result is one `evaluated`. It runs once its nodes
/// have been started, which are kept for later evaluations.
struct evaluator_state {
  static inline const char* name = "evaluator";
  evaluator_actor::stateful_pointer<evaluator_state> self = nullptr;
  evaluator_options options;
  activity spent;               ///< See counted.hpp.
  evaluation_sink_actor asker;  ///< Receives results: a chief, or the driver of an evaluation alone.

  sub_plan nodes;  ///< Kept for the next evaluation, unless a node has ended.
  bool running = false;
  evaluate_at current;
  /// Protects the checkpoint under evaluation until its result is sent, or until its exporters are done. The writer has
  /// a lease for the evaluator as well, but may die first.
  std::shared_ptr<file_hold> lease;
  checkpoint_id at;                      ///< The checkpoint under evaluation.
  std::vector<std::string> passed_over;  ///< Damaged checkpoints before it, as warnings.
  int64_t global_step = 0;
  int32_t attempt = 0;  ///< The sub-plan's attempt; each evaluation has its own.
  int64_t until = 0;
  sub_plan_wait<evaluator_actor::stateful_pointer<evaluator_state>> waiting;
  std::optional<metric_totals> totals;
  hook_roll hooks;
  size_t loss_at = 0;  ///< Index of the loss among the outputs of a batch.
  /// A hook has ended the evaluation at the batch that it was shown; the nodes still make all steps that were granted.
  bool stopped = false;
  std::optional<error> failing;  ///< Why it has failed, while replicas are being halted.
  bool lost_node = false;        ///< The others are ended, too.
  std::string dropped_for;       ///< A part of the shown state was not written: this replica may read the store.
  /// When the evaluation began, and when the driver was last sent its progress.
  caf::actor_clock::time_point began{}, told{};

  void on_evaluate(const evaluate_at& x);
  expected<void> load();
  void on_started(const started& x);
  void on_state_part(const state_part& x);
  void write(const state_part& x);
  std::optional<int64_t> limit() const;  ///< Limit on the number of batches; absent: none.
  int64_t ahead() const;                 ///< Batches that may be granted beyond those handled.
  void extend(int64_t reached);
  void on_progress(const progress& x);
  void on_end(const stream_end& x);
  void on_export(const export_at& x);
  void on_rule(const apply_rule& x);
  void on_probe(const probe& x);
  /// Shows the hooks a fact. Returns false if one of them threw; the evaluation has then ended.
  bool show_hooks(fact x);
  bool begin_hooks();
  bool show_batch(const step_values& batch);
  void end_hooks(evaluated& result);
  bool calls_hooks() const { return !hooks.empty() && current.batches < 0; }
  void finish(std::optional<error> cause);
  /// The same once no replica reads the store any more: the next evaluation writes it.
  void fail_with(error cause, bool after_silence = false);
  void finish_when_halted();
  /// Whether the driver asks for exports once it has that result.
  bool will_export(const evaluated& result) const { return options.exports && result.ok && current.batches < 0; }
  void tell_batches();  ///< Sends progress to the driver, at most every 100 ms.
};

evaluator_actor::behavior_type evaluator(evaluator_actor::stateful_pointer<evaluator_state> self,
                                         evaluator_options options, evaluation_sink_actor asker);

}  // namespace troupe
