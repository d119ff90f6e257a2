// Hooks: user objects that observe a job. They run on a thread of their own, in the order of events, and hold up
// training only if they request a gate or fall far behind.
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
#include <troupe/tensor.hpp>

#include <map>

namespace troupe {

/// An event of a job. Events are published in step order: none about state s before the reports of all steps below s. A
/// save is reported once it is durable, which may be after the progress of later steps.
struct job_event {
  enum class kind : uint8_t { started, progress, saved, evaluated, warning, recovering, recovered, finished, stopped, failed };
  kind what = kind::progress;
  int64_t step = 0;                      ///< The state it is about.
  double seconds = 0;                    ///< Since the job started, by its clock.
  std::optional<int64_t> max_steps = {}; ///< started, progress: the step at which the job will end.
  double loss = 0;                       ///< progress: mean over the steps since the previous one; of several groups, the first one's that has not left.
  double steps_per_second = 0;           ///< progress.
  /// evaluated, finished: `loss`, `global_step`, and the model's own. progress: the model's own of training (`run_config::train_metrics`). In a
  /// job of several groups those of training are "<group>/loss" and "<group>/<metric>" of each group that has not left.
  std::map<std::string, double> metrics = {};
  std::map<std::string, tensor> arrays = {};   ///< The same for the model's metrics that are arrays, float64.
  std::string text = {};                 ///< saved, recovered: the checkpoint's prefix; warning, started, stopped, finished, recovering: a sentence.
  std::optional<checkpoint_id> checkpoint = {};  ///< saved, evaluated; recovered, where there was one.
  std::optional<error> failure = {};     ///< failed, recovering: the cause.
  int32_t attempt = 1;                   ///< recovering: the attempt that failed; recovered: the one that begins.
  std::string evaluation = {};           ///< evaluated: the name of its eval_spec.
};
TROUPE_API std::string_view to_string(job_event::kind k) noexcept;
/// One line for people: "saved runs/a/model.ckpt-390", "step 390/2340  16%  812 steps/s  loss 0.4321  ETA 0:03".
TROUPE_API std::string to_text(const job_event& e);
/// "accuracy 0.8812, loss 0.3312": by name, without the step, which is said elsewhere.
TROUPE_API std::string metrics_text(const std::map<std::string, double>& metrics);
/// Tables for people, each line with its end: "recall\n  0.9312  0.8127\n"; a matrix has the indices of its rows and columns. An array with more
/// than 20 rows or columns is only named, with its shape.
TROUPE_API std::string arrays_text(const std::map<std::string, tensor>& arrays);

/// Requests that a hook may make; any thread.
class TROUPE_API job_control {
 public:
  virtual ~job_control();
  virtual void save() = 0;  ///< Saves a checkpoint at the current horizon, or joins a save under way.
  virtual void stop() = 0;  ///< Saves, and ends there. In an evaluation: it ends with the batches up to the one that was shown.
  /// Multiplies the learning rate of all later steps by `factor`, above 0 and finite: from the state on at which the hook holds the job, or
  /// from the horizon on. Checkpoints keep it, so that a resumed job goes on with the same rate. Of no effect in an evaluation.
  virtual void scale_rate(double factor);
};

/// A step that a hook wants to see: the values of the step that leads to state `first`, then every `every`-th after it.
struct need {
  int64_t first = 0;
  int64_t every = 0;  ///< 0: only once.
  bool gate = false;  ///< Nothing runs past the state until the hook has returned. Without a gate, training is held up
                      ///< only when the backlog for hooks reaches the most that a job keeps.
};

/// Facts that a hook may hold: nothing runs past the state of such a fact until the hook has returned from `on_event`, so that a hook that
/// stops on it ends the job at exactly that state.
struct held_facts {
  bool saved = false;      ///< Training stands still from every save until the hook has heard of it.
  bool evaluated = false;  ///< Training stands still from every save that is evaluated until the hook has heard of its result, even where
                           ///< evaluation_mode is `beside`.
};

/// What a hook will want of a job.
struct needs {
  std::vector<need> steps = {};
  bool last = false;  ///< The job's last step, too, unless it is known only once it is done: where the data end, or a step fails.
  held_facts holds = {};
  /// Of what the model observes (`graph::observe`), the values that the hook is shown at those steps, by name. A model computes
  /// what it observes only at steps that some hook with values is shown.
  std::vector<std::string> values = {};
};

struct step_facts {
  int64_t step = 0;                      ///< The state that was reached; its last step was step - 1. In an evaluation: batches so far.
  double seconds = 0;                    ///< Since the job started, by its clock.
  /// "loss", and the values that the hook named; empty at the state where the job starts. "loss" is the mean over all replicas and
  /// gradient shards: the same bits for any number of replicas that share the same gradient_shards. So are observed values. In a job of several
  /// groups names begin with "<group>/", and a value of a group that has left has no elements.
  std::map<std::string, tensor> values;
};

/// Beside training, in an evaluation (`eval_spec::hooks`) and a prediction (`predict_spec::hooks`), the calls are made by the evaluator's thread
/// and by the one that takes the predictions, states count batches from 0, and each evaluation or stream has a `begin` and an end of its own.
///
/// In training all calls are made on the job's callbacks thread, or where `start_options::executor` (job.hpp) says; one at a time,
/// hook after hook in the order of `train_spec::hooks` except for `on_abort`. An exception that leaves a hook ends the
/// job as `state`, after a last save, and names the call, the hook's index and its type; every other hook is still
/// called. A call that does not return holds up the job's end, and the thread that ends the job, for no longer than the
/// job's deadlines; the job has failed then.
class TROUPE_API hook {
 public:
  virtual ~hook();
  /// Before the first step; `step` is where the job starts. Steps not requested here are not shown later. A hook that
  /// has not begun, because the job failed before or `begin` threw, gets no further calls.
  virtual needs begin(int64_t step);
  /// At each step that `begin` asked for.
  virtual void on_step(const step_facts& facts, job_control& job);
  /// Events of the whole job.
  virtual void on_event(const job_event& event, job_control& job);
  /// Last call of a job that ended cleanly, stopped ones included. An exception thrown here becomes the job's error; a
  /// job whose hooks could not be notified of its end has failed.
  virtual void end(int64_t step);
  /// Last call of a job that failed, in reverse order of `begin`. Events and steps not yet delivered may be dropped.
  virtual void on_abort(const error& cause);
};

}  // namespace troupe
