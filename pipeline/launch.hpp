// Launching: one prepared job, several ways to run it.
#pragma once

#include "pipeline/prepared_job.hpp"

namespace troupe {

/// A job that runs, seen from outside. Every call from any thread; none blocks but `wait` and the destructor.
class running_job {
 public:
  virtual ~running_job() = default;
  virtual job_progress progress() const = 0;
  virtual void ask(uint8_t request_kind, bool by_signal) = 0;
  /// The result, or nothing when it is not there in time.
  virtual std::optional<expected<train_result>> wait(std::optional<std::chrono::milliseconds> deadline) = 0;
};

/// An actor system of its own: detached threads for whatever may block, one scheduler thread for the rest.
std::unique_ptr<running_job> launch_local(std::shared_ptr<prepared_job> job);

/// One evaluation in a system of its own; blocks until its result. `step` negative: the newest checkpoint.
expected<evaluation_result> evaluate_local(std::shared_ptr<prepared_job> job, int64_t step);

}  // namespace troupe
