// Hooks: user objects that observe a job. They run on a thread of their own, in the order of events, and delay training
// only if they request a gate or fall far behind.
// Not needed to begin with.
//
//   struct stop_at_target : tr::hook {
//     tr::needs begin(int64_t) override { return {.holds = {.evaluated = true}}; }
//     void on_event(const tr::job_event& e, tr::job_control& job) override {
//       if (e.what == tr::job_event::kind::evaluated && e.metrics.at("accuracy") > 0.9) job.stop();
//     }
//   };
#pragma once

#include <troupe/checkpoint_id.hpp>
#include <troupe/job_trace.hpp>
#include <troupe/tensor.hpp>

#include <functional>
#include <map>
#include <memory>
#include <vector>

namespace troupe {

/// An event of a job. Events come in step order: one about state s comes after all steps below s have been reported. A
/// save is reported once it is durable, which may be after the progress of later steps.
struct job_event {
  enum class kind : uint8_t {
    started,
    progress,
    saved,
    evaluated,
    warning,
    recovering,
    recovered,
    chosen,
    grown,
    finished,
    stopped,
    failed
  };
  kind what = kind::progress;
  int64_t step = 0;                       ///< The state that the event is about.
  double seconds = 0;                     ///< Since the job started, by its clock.
  std::optional<int64_t> max_steps = {};  ///< started, progress: the step at which the job will end.
  /// progress: the mean loss of the steps since the previous progress; in a job of several groups, that of the first
  /// group that has not left.
  double loss = 0;
  double steps_per_second = 0;  ///< progress.
  /// evaluated, finished: `loss`, `global_step` and the model's metrics. progress: the model's metrics of training
  /// (`run_config::train_metrics`); in a job of several groups, "<group>/loss" and "<group>/<metric>" of each group
  /// that has not left. chosen: the scores of the candidates by which the winner was chosen, by their names.
  std::map<std::string, double> metrics = {};
  std::map<std::string, tensor> arrays = {};  ///< The same for metrics that are arrays, float64.
  /// saved, recovered: the checkpoint's prefix. warning, started, stopped, finished, recovering, chosen, grown: a
  /// sentence.
  std::string text = {};
  std::optional<checkpoint_id> checkpoint = {};  ///< saved, evaluated; recovered, if there was one.
  std::optional<error> failure = {};             ///< failed, recovering: the cause.
  int32_t attempt = 1;          ///< recovering: the attempt that failed; recovered: the one that begins.
  std::string evaluation = {};  ///< evaluated: the name of its eval_spec.
};
TROUPE_API std::string_view to_string(job_event::kind k) noexcept;
/// One line for people: "saved runs/a/model.ckpt-390", "step 390/2340  16%  812 steps/s  loss 0.4321  ETA 0:03".
TROUPE_API std::string to_text(const job_event& e);
/// "accuracy 0.8812, loss 0.3312": sorted by name, without `global_step`.
TROUPE_API std::string metrics_text(const std::map<std::string, double>& metrics);
/// Tables for people, with all line ends: "recall\n  0.9312  0.8127\n". A matrix has the indices of its rows and
/// columns. Of an array with more than 20 rows or columns there is only the name and the shape.
TROUPE_API std::string arrays_text(const std::map<std::string, tensor>& arrays);

/// Requests that a hook may make, from any thread.
class TROUPE_API job_control {
 public:
  virtual ~job_control();
  virtual void save() = 0;  ///< Saves a checkpoint after the steps granted already, or joins a save under way.
  /// Saves and ends the job there. An evaluation or prediction ends after the batch that the hook was shown.
  virtual void stop() = 0;
  /// Multiplies the learning rate of later steps by `factor`, above 0 and finite. It applies from the state at which
  /// the hook holds the job, otherwise after the steps granted already. Checkpoints store it, so a resumed job
  /// continues with the same rate. No effect in an evaluation.
  virtual void scale_rate(double factor);
};

/// Steps that a hook wants to see: the step that leads to state `first`, then every `every`-th one after it.
struct need {
  int64_t first = 0;  ///< At least 0, as `every`.
  int64_t every = 0;  ///< 0: only once.
  bool gate = false;  ///< Training pauses at the state until the hook has returned. Without a gate, training is delayed
                      ///< only when the backlog for hooks reaches its limit.
};

/// Events at which a hook holds the job: training pauses at the event's state until the hook has returned from
/// `on_event`, so a hook that stops the job there ends it at exactly that state.
struct held_facts {
  bool saved = false;  ///< Training pauses at every save until the hook has been called for it.
  /// Training pauses at every save that is evaluated until the hook has been called with the result, even if the
  /// evaluation is `beside` training.
  bool evaluated = false;
};

/// Steps that a hook wants a trace of: [first, first + steps), and again every `every` steps; 0: only once. One trace
/// at a time: one that would begin before the last one has ended is left out, and one that the job's end cuts is
/// shorter. `first` and `every` are at least 0, `steps` at least 1.
struct trace_need {
  int64_t first = 0;
  int64_t steps = 1;
  int64_t every = 0;
};

/// What a hook requests of a job. A number or a value that cannot be fails the job, and the error names it.
struct needs {
  std::vector<need> steps = {};
  /// Also the job's last step, unless that is known only afterwards: when the data end or a step fails.
  bool last = false;
  held_facts holds = {};
  /// The observed values (`graph::observe`) that the hook wants at those steps, by name. A model computes observed
  /// values only at steps for which a hook has requested some. "loss" is shown anyway, and may be named.
  std::vector<std::string> values = {};
  /// Whether the hook is called at the end of every loop of training (`on_loop`). Not for hooks of a builder.
  bool loops = false;
  std::vector<trace_need> traces = {};  ///< For `on_trace`. Not for hooks of a builder.
};

/// What a hook is shown of a step.
struct step_facts {
  int64_t step = 0;    ///< The state that step - 1 led to. In an evaluation: batches so far.
  double seconds = 0;  ///< Since the job started, by its clock.
  /// "loss", and the values that the hook named; empty at the state where the job starts. "loss" is the mean over all
  /// replicas and gradient shards. The bits do not depend on the number of replicas if gradient_shards is the same. In
  /// a job of several groups names begin with "<group>/", and a value of a group that has left has no elements.
  std::map<std::string, tensor> values;
};

/// What a hook is shown of a loop (`run_config::steps_per_loop`). In a job of several groups the losses are those of
/// the first group that has not left.
struct loop_facts {
  int64_t begins = 0;         ///< The step with which the loop began.
  int64_t first = 0;          ///< Steps [first, end) are counted here: `first` is `begins`, or where the job resumed,
  int64_t end = 0;            ///< and `end` is where the loop or the job ends.
  double last_loss = 0;       ///< Of the last step, the mean over all replicas.
  double mean_loss = 0;       ///< Over all counted steps and replicas.
  double replica_0_loss = 0;  ///< Of the last step, on the first replica alone.
  double examples_per_second = 0;  ///< Over the counted steps; 0: not known.
  std::optional<double> ppl = {};  ///< With `run_config::log_perplexity`: exp(last_loss),
  std::optional<double> bpc = {};  ///< and last_loss / ln 2.
  friend bool operator==(const loop_facts&, const loop_facts&) = default;
};

/// A user object that observes training, an evaluation (`eval_spec::hooks`) or a prediction (`predict_spec::hooks`).
///
/// In training all calls are made on the job's callbacks thread, or where `start_options::executor` (job.hpp) runs
/// them, one at a time, hook after hook in the order of `train_spec::hooks`, except for `on_abort`. If a hook throws,
/// the job fails with `state`, after a last save; the error names the call, the hook's index and its type, and all
/// other hooks are still called. A call that does not return fails the job, whose error names it, and delays its end by
/// no more than the job's deadlines. So a hook must neither destroy the handle of its job nor wait for the job.
///
/// In an evaluation the calls are made by the evaluator's thread, in a prediction by the thread that takes the results.
/// States count batches from 0, and each evaluation or stream has its own `begin` and end.
class TROUPE_API hook {
 public:
  virtual ~hook();
  /// Called before the first step; `step` is where the job starts. Returns what the hook wants to see; by default only
  /// events. A hook that has not begun, because the job failed before or `begin` threw, gets no further calls.
  virtual needs begin(int64_t step);
  /// Called at each step that `begin` requested.
  virtual void on_step(const step_facts& facts, job_control& job);
  /// Called at the end of every loop, and of the part that the job ends in, if `begin` requested it.
  virtual void on_loop(const loop_facts& loop, job_control& job);
  /// Called with a trace that `begin` requested.
  virtual void on_trace(const job_trace& trace, job_control& job);
  /// Called for every event of the job.
  virtual void on_event(const job_event& event, job_control& job);
  /// The last call if the job ended cleanly or was stopped. An exception thrown here becomes the job's error; a job
  /// whose hooks cannot be called at its end has failed.
  virtual void end(int64_t step);
  /// The last call if the job failed, in reverse order of `begin`. Events and steps not yet delivered may be dropped.
  virtual void on_abort(const error& cause);
};

/// Returns new hooks at each call, none of them null.
using hook_maker = std::function<std::vector<std::shared_ptr<hook>>()>;

}  // namespace troupe
