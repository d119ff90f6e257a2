// Jobs: training in the background of a program of your own.
//
//   auto job = tr::start(estimator, {.input = train, .max_steps = 3000}, tr::eval_spec{.input = test});
//   ...                                    // your own loop; job->progress() any time
//   job->stop();                           // saves, then ends
//   auto result = job->wait(std::chrono::seconds{30});
//
// Nothing here is global: several jobs in one process do not meet. No signal handler is installed, nothing exits.
#pragma once

#include <troupe/estimator.hpp>

#include <chrono>

namespace troupe {

struct job_progress {
  enum class phase : uint8_t { starting, restoring, training, draining, finished, failed };
  phase now = phase::starting;
  int64_t step = 0;
  std::optional<int64_t> max_steps;
  double loss = 0;
  double steps_per_second = 0;
  int64_t committed_step = -1;              ///< -1: none by this job yet.
  std::map<std::string, double> evaluation; ///< The last one.
};
TROUPE_API std::string_view to_string(job_progress::phase p) noexcept;

/// A handle: move-only; every call from any thread, none blocking but `wait` and the destructor.
class TROUPE_API job {
 public:
  job(job&&) noexcept;
  job& operator=(job&&) noexcept;
  /// Stops the job as `abort` does, and waits for its actors to end (at most the plan's stop deadline).
  ~job();

  job_progress progress() const;
  void save();
  /// Saves at the current horizon and ends there. After a signal no evaluation follows.
  void stop(bool by_signal = false);
  /// Ends without saving; the last commit stands.
  void abort();
  /// The result, once; deadline_exceeded, naming the phase, when it is not there in time (the job goes on).
  expected<train_result> wait(std::optional<std::chrono::milliseconds> deadline = {});

  struct impl;
  explicit job(std::unique_ptr<impl> i);

 private:
  std::unique_ptr<impl> impl_;
};

/// Validates, plans and starts. invalid_argument, state.
TROUPE_API expected<job> start(const estimator& e, const train_spec& training, std::optional<eval_spec> evaluation = {});

}  // namespace troupe
