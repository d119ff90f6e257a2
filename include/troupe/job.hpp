// Jobs: training in the background of a program of your own.
// Read it to begin with.
//
//   auto job = tr::start(estimator, {.input = train, .max_steps = 3000}, tr::eval_spec{.input = test});
//   ...                                    // your own loop; job->progress() any time
//   job->stop();                           // saves, then ends
//   auto result = job->wait(std::chrono::seconds{30});
//
// There is no global state: several jobs in one process do not affect each other, and each has its own threads
// (run_config::intra_op_threads). No signal handler is installed, and nothing exits the process.
#pragma once

#include <troupe/estimator.hpp>
#include <troupe/job_report.hpp>
#include <troupe/progress.hpp>

#include <chrono>
#include <functional>

namespace troupe {

/// Why a job is stopped. A signal leaves its process little time, so that no evaluation follows.
enum class stop_reason : uint8_t { request, signal };

/// A move-only handle. Any thread may make any call; only `wait...`, `report` and the destructor block. Once the job
/// has ended, `progress` is its last state, `wait` returns the same result again, and `save`, `stop` and `abort` do
/// nothing. The same holds for a moved-from handle, whose progress is empty and whose result is a `state` error.
class TROUPE_API job {
 public:
  job(job&&) noexcept;
  /// Ends the job that this handle held before, like the destructor.
  job& operator=(job&&) noexcept;
  /// Calls `abort` and waits for the job's actors to end: two minutes at most, or longer if the executor's deadline is.
  /// No hook call through an executor begins any more, so the executor's thread may destroy the handle; a hook may not.
  ~job();

  /// A copy of phase, step, loss, speed, newest checkpoint and evaluations.
  job_progress progress() const;
  /// What each actor has done with its time, and so what bounds the job. state: the job has ended; deadline_exceeded.
  expected<job_report> report(std::chrono::milliseconds deadline = std::chrono::seconds{10});
  /// Saves a checkpoint after the steps granted already; training continues. No effect in a job without checkpoints.
  void save();
  /// Grants no further steps; those already granted, up to two blocks or 0.2 s, are still made. `save`, `stop` and
  /// `progress` work; saves by time and deadlines of training are suspended. A pause does not change the arithmetic.
  void pause();
  void resume();  ///< Continues after `pause`. A second pause or resume has no effect.
  /// Saves at the current horizon and ends there; evaluations and exports of it follow, unless by a signal.
  void stop(stop_reason reason = stop_reason::request);
  void abort();  ///< Ends without saving; the last commit stands.
  /// Blocks for the result, without `deadline` until the job ends; then state in a hook. deadline_exceeded, naming the
  /// phase: not in time; the job continues. A thread that runs hook tasks should wait briefly and run them in between.
  expected<train_result> wait(std::optional<std::chrono::milliseconds> deadline = {});
  /// Blocks until the job has reached state `step`. deadline_exceeded; the job's error, or state: it ended before.
  expected<void> wait_until(int64_t step, std::optional<std::chrono::milliseconds> deadline = {});
  /// The result, or nothing if the job is still running after `duration`, so that every error is the job's own.
  expected<std::optional<train_result>> wait_for(std::chrono::milliseconds duration);

  struct impl;
  explicit job(std::unique_ptr<impl> i);

 private:
  friend class status_keeper;
  std::unique_ptr<impl> impl_;
};

enum class log_level : uint8_t { debug, info, warning, error };

/// How a job is embedded in its host program.
struct start_options {
  /// Chooses the thread of hook calls: each is passed to the executor as a task, which the program runs once, as in
  /// `[&](std::function<void()> task) { loop.post(std::move(task)); }`, and the next one after it has returned. The
  /// executor is called on the job's callbacks thread. Empty: hooks run there.
  std::function<void(std::function<void()>)> executor = {};
  /// If a task does not begin within this time, the job saves and fails with deadline_exceeded. In [1 ms, 24 h].
  std::chrono::milliseconds executor_deadline{30'000};
  /// Receives the job's events as lines on the callbacks thread, before hooks are called: warnings as warning, a
  /// failure as error, progress as info once a second and else as debug, the rest as info. Empty: no log. `log_to`
  /// (spdlog.hpp) passes them to a logger.
  std::function<void(log_level, const std::string&)> log = {};
};

/// Validates, plans and starts a job, without waiting for it. Errors: invalid_argument; unimplemented; any of the model
/// or the data; failed_precondition (a search's checkpoint). All others of the directory or its files `wait` returns.
TROUPE_API expected<job> start(const estimator& e, const train_spec& training, const eval_specs& evaluations = {},
                               const start_options& options = {});

}  // namespace troupe
