// Supervised sessions: training that a loop of the program's own moves, run by run.
// Not needed to begin with.
//
//   auto session = tr::session::open(estimator, {.input = train, .max_steps = 3000});
//   while (!session->should_stop()) {
//     auto run = session->run({.what = {.fetches = {"loss"}}, .steps = 10});
//     if (!run) break;                        // out_of_range: the data have ended
//     draw(run->step, run->values.at("loss"));
//   }
//   auto result = session->close();
//
// A session is a job (job.hpp) that stands still between two runs, however long its caller is away. Hooks see its
// states as those of any job, and checkpoints, summaries and recovery are the same.
#pragma once

#include <troupe/coordinator.hpp>
#include <troupe/job.hpp>
#include <troupe/run_hook.hpp>

namespace troupe {

/// The variables of a session that is being opened, with the slots of its optimizer. Valid during one call.
class TROUPE_API parameter_access {
 public:
  std::vector<std::string> names() const;
  /// What the variable begins with. not_found: there is none of that name.
  expected<tensor> read(const std::string& name) const;
  /// not_found; invalid_argument: another dtype or shape.
  expected<void> write(const std::string& name, tensor value);
  /// Takes these variables from the checkpoint "runs/fashion/model.ckpt-390". Errors: as of `write`, and of the
  /// checkpoint.
  expected<void> load(const std::string& checkpoint, const std::vector<std::string>& names);

  struct impl;
  explicit parameter_access(impl& i) noexcept : impl_(i) {}

 private:
  impl& impl_;
};

/// Options of TensorFlow's MonitoredTrainingSession that are not of `run_config` or `train_spec`.
struct session_options {
  /// False: a session beside the chief's. It waits for a checkpoint in the model directory and trains on a copy of its
  /// own, which goes back to the newest checkpoint when it recovers. It takes no lock and writes nothing.
  bool is_chief = true;
  /// Called before those of `train_spec::hooks`; not in a session beside the chief's.
  std::vector<std::shared_ptr<hook>> chief_hooks = {};
  /// Called where the variables begin with initial values or with those of a warm start: not after a restore. On a
  /// thread of the job.
  std::function<expected<void>(parameter_access&)> init_fn = {};
  /// Names variables that are not ready then, which is a `state` error. Called after `init_fn`.
  std::function<std::vector<std::string>(const parameter_access&)> ready = {};
  /// Restores this checkpoint, "runs/fashion/model.ckpt-390", with its step; the data begin anew. invalid_argument: the
  /// session has a model_dir, whose newest checkpoint it would restore.
  std::optional<std::string> checkpoint = {};
  /// Components of the input that each run brings (`run_arguments::feeds`) in place of the input's own.
  std::vector<std::string> feeds = {};
  double max_wait_secs = 7200;                            ///< Beside the chief: for a checkpoint, which is looked for
  double recovery_wait_secs = 30;                         ///< so often. In [0.001, 3e7], both.
  double stop_grace_period_secs = 120;                    ///< How long `close` waits for work beside the runs.
  std::function<void(const std::string& line)> log = {};  ///< Lines about such work; empty: standard error.
  start_options embedding = {};                           ///< How the job is embedded in its program.
};

struct run_request {
  run_arguments what = {};
  int64_t steps = 1;
};

struct run_result {
  int64_t step = 0;       ///< The state where the job stands.
  int64_t steps_run = 0;  ///< Steps of this run: fewer than requested if the job ends before.
  /// By how many steps recoveries have put the job back since the last run ended: this run began so much lower.
  int64_t steps_taken_back = 0;
  int64_t recoveries = 0;  ///< Since the last run ended.
  /// What was fetched. A metric is absent before the first progress; other values may be where a stop has cut the run.
  std::map<std::string, tensor> values = {};
};

/// Variables of a session, as they are between two steps.
struct variable_values {
  int64_t step = 0;                           ///< The state that they are of.
  std::map<std::string, tensor> values = {};  ///< Copies, by name.
};

class session_view;

/// What a loop beside the runs sees of the session (`session::loop`). Valid during one call of its function; the calls
/// are those of `session`.
class TROUPE_API loop_context {
 public:
  job_progress progress() const;
  /// The last run that has ended, with what it fetched. Before there is one, of 0 steps.
  run_result last_run() const;
  expected<variable_values> variables(const std::vector<std::string>& names,
                                      std::chrono::milliseconds patience = std::chrono::minutes{10}) const;
  expected<void> summarise(const std::map<std::string, double>& values, std::optional<int64_t> step = {}) const;

  explicit loop_context(const session_view& v) noexcept : view_(v) {}
  /// Whether `variables` has failed because the job had ended, or the session ends its loops.
  bool has_seen_end() const noexcept { return seen_end_; }

 private:
  const session_view& view_;
  mutable bool seen_end_ = false;
};

/// What a step function may do (`session::run_step_fn`).
class TROUPE_API step_context {
 public:
  /// As `session::run`, except that the run is not made again after a recovery: it fails with `aborted`, and the step
  /// function should return.
  expected<run_result> run(const run_request& what = {});
  /// The same without the calls of run hooks.
  expected<run_result> run_alone(const run_request& what = {});
  /// Ends the session. The step function should return; `run` fails with `state`.
  void request_stop();

 private:
  friend class session;
  struct impl;
  explicit step_context(impl& i) noexcept : impl_(i) {}
  impl& impl_;
};

/// A move-only handle. One thread at a time makes runs and saves; any thread may make the other calls. What a closed
/// session, or one that was moved from, is asked for is a `state` error.
class TROUPE_API session {
 public:
  /// Starts the job and waits until its hooks have begun and it could make a step. Errors: those of `start` (job.hpp)
  /// and of the job; deadline_exceeded: no checkpoint came in `max_wait_secs`.
  static expected<session> open(const estimator& e, const train_spec& training, const session_options& options = {});
  session(session&&) noexcept;
  session& operator=(session&&) noexcept;
  /// Aborts the job, unless it was closed: nothing is saved, and no hook is called any more.
  ~session();

  /// Makes so many steps and returns. If the job recovers to the state where the run began or to an earlier one, the
  /// run is made again from there; otherwise it goes on to its end. So it is if what was cancelled in the run may
  /// follow from work beside it that has failed with `aborted` or `unavailable`, which then begins anew. Errors:
  /// - state: `should_stop`, or another thread runs;
  /// - out_of_range: the data have ended. The session can still be closed cleanly;
  /// - invalid_argument: what `run_arguments` refuses, a number of steps below 1;
  /// - the first error of work beside the runs;
  /// - the job's own, with a note of what work beside the run has failed with. It has ended then, and `close` returns
  ///   the same.
  expected<run_result> run(const run_request& what = {});
  /// Calls `f`, and again from the start whenever the job has recovered during the call; otherwise returns what it
  /// returns. So `f` must be repeatable. An exception of it is a `state` error.
  expected<void> run_step_fn(const std::function<expected<void>(step_context&)>& f);
  /// Whether no run follows: the job has ended or has been asked to, or work beside the runs has failed or stopped.
  /// Where that has failed with `aborted` or `unavailable`, the answer is false: the next run or save first takes the
  /// job back to its newest checkpoint, and the loops begin anew.
  bool should_stop();
  /// Saves the state between two runs and returns the prefix of the checkpoint once it is durable.
  /// failed_precondition: a session that does not save.
  expected<std::string> save();
  /// The job saves its state and ends. A run under way ends early.
  void request_stop();
  /// The work beside the runs: threads of the program enlist here (coordinator.hpp). No error is clean; a stop by
  /// `aborted` or `unavailable` passes: threads end and can enlist again once the next run has begun, and what
  /// `feed_from` feeds (batch_feed.hpp) goes on. Of a handle that was moved from, one that has stopped.
  coordinator beside();
  /// Calls `f` on a thread of its own, at once and then every so often, until the session closes or an error of it
  /// stops all. Without `every`, back to back. Where `variables` has told `f` of the end of the job or of the loops,
  /// the error that it returns is none.
  void loop(const std::string& name, std::optional<std::chrono::milliseconds> every,
            std::function<expected<void>(const loop_context& now)> f);
  /// Copies of these variables and slots ("dense/kernel", "dense/kernel/Adam"), all of the newest state, also while a
  /// run is under way. Any thread. While the job recovers it is waited for. Errors: not_found naming one;
  /// invalid_argument: a carried state (`graph::state`), or no name; deadline_exceeded; resource_exhausted: no memory,
  /// or 64 requests wait already; state: the job has ended.
  expected<variable_values> variables(const std::vector<std::string>& names,
                                      std::chrono::milliseconds patience = std::chrono::minutes{10});
  /// Writes values that the program has computed to the event file, of state `step` or of where the job stands. Any
  /// thread, a loop for one. They are written with the next record or checkpoint, or at the end.
  /// resource_exhausted: 10,000 calls wait for that already. state: there is no event file.
  expected<void> summarise(const std::map<std::string, double>& values, std::optional<int64_t> step = {});
  job_progress progress() const;
  /// Stops and awaits the work beside the runs, ends the job with a save, and returns its result. Errors: the job's,
  /// with the first one of the work beside as a note; that one, unless it is `aborted` or `unavailable`, which `log`
  /// names; state: closed already. Work that has not ended in time is named in `log`; the function of a loop is not
  /// called again.
  expected<train_result> close();

  struct impl;
  explicit session(std::unique_ptr<impl> i);

 private:
  std::unique_ptr<impl> impl_;
};

/// Batches of zeros without an end, for `session_options::feeds`: `rows` rows of these components.
TROUPE_API dataset rows_to_feed(const element_spec& spec, int64_t rows);

}  // namespace troupe
