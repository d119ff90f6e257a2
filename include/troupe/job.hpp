// Jobs: training in the background of a program of your own.
// Read it to begin with.
//
//   auto job = tr::start(estimator, {.input = train, .max_steps = 3000}, tr::eval_spec{.input = test});
//   ...                                    // your own loop; job->progress() any time
//   job->stop();                           // saves, then ends
//   auto result = job->wait(std::chrono::seconds{30});
//
// Nothing here is global: several jobs in one process do not meet. Each has its own threads, by default as many as there are processors
// (run_config::intra_op_threads); where all are busy, a thread computes what its helpers have not begun. No signal handler is installed, nothing exits.
#pragma once

#include <troupe/estimator.hpp>
#include <troupe/progress.hpp>

#include <chrono>
#include <functional>

namespace troupe {

/// A move-only handle. Any thread may make any call; only `wait` and the destructor block. Once the job has ended,
/// `progress` is its last state, `wait` returns the same result again, and `save`, `stop` and `abort` do nothing. The
/// same holds for a moved-from handle, whose progress is empty and whose result is a `state` error.
class TROUPE_API job {
 public:
  job(job&&) noexcept;
  /// Ends the job held before, like the destructor.
  job& operator=(job&&) noexcept;
  /// Aborts the job like `abort`, and waits for its actors to end (two minutes at most, or longer with the executor's deadline). If hooks have an
  /// executor, no hook call begins from here on, so the executor's own thread may destroy the handle; a hook may not.
  ~job();

  job_progress progress() const;
  void save();
  /// Grants no further steps; those that are granted, two blocks or 0.2 s of them, are still made. `save`, `stop` and `progress` work;
  /// saves by time wait, and no deadline of training runs. The arithmetic is that of a job that was not paused.
  void pause();
  /// Goes on after `pause`. Pausing or resuming twice is the same as once.
  void resume();
  /// Saves at the current horizon and ends there. After a signal no evaluation follows.
  void stop(bool by_signal = false);
  /// Ends without saving; the last commit stands.
  void abort();
  /// Returns the result; deadline_exceeded, naming the phase, when it is not there in time (the job goes on). A thread
  /// that runs hook tasks should wait in short intervals and run the tasks in between.
  expected<train_result> wait(std::optional<std::chrono::milliseconds> deadline = {});
  /// The result, or nothing when the job is still running after `duration`: every error is the job's own.
  expected<std::optional<train_result>> wait_for(std::chrono::milliseconds duration);

  struct impl;
  explicit job(std::unique_ptr<impl> i);

 private:
  std::unique_ptr<impl> impl_;
};

enum class log_level : uint8_t { debug, info, warning, error };

/// How a job is embedded in the program that starts it.
struct start_options {
  /// Where hooks are called. Each call is passed as a task, to be run once, on a thread of the program's choice:
  /// `[&](std::function<void()> task) { loop.post(std::move(task)); }`. The next task is passed when the previous one
  /// has returned, so they stay in order. The executor itself is called on the job's callbacks thread, where hooks are
  /// called without one.
  std::function<void(std::function<void()>)> executor = {};
  /// A task not begun within this time ends the job as `deadline_exceeded`, after a last save. In [1 ms, 24 h].
  std::chrono::milliseconds executor_deadline{30'000};
  /// Receives the job's events, a line each, on the job's callbacks thread and before the hooks are called: warnings as warning, a failure
  /// as error, progress as info once a second and otherwise as debug, the rest as info. `log_to` of spdlog.hpp passes them to a logger.
  std::function<void(log_level, const std::string&)> log = {};
};

/// Validates, plans and starts. invalid_argument; unimplemented; failed_precondition: a directory in which this job cannot go on;
/// any error of the model and of the data.
TROUPE_API expected<job> start(const estimator& e, const train_spec& training, const eval_specs& evaluations = {}, const start_options& options = {});

}  // namespace troupe
