// Launching: one prepared job, several ways to run it.
#pragma once

#include "pipeline/launch/prediction_queue.hpp"
#include "pipeline/plan/jobs.hpp"

#include <troupe/job.hpp>

namespace caf {
class actor_system;
}

namespace troupe {

/// A job with everything it needs to run: models planned, memory allocated.
struct prepared_job;

/// Prepares a job before any actor exists, so that errors of a model, an input or a configuration are returned at once:
/// invalid_argument, and the errors of the model, the datasets and allocation.
expected<std::shared_ptr<prepared_job>> prepare(any_job job);
/// The same with the caller's plan and resources, which replace the job's own model and datasets; of the job, only
/// settings that are not part of a plan count. Also invalid_argument as for `check`.
expected<std::shared_ptr<prepared_job>> prepare(any_job job, planned_job planned);

/// The handle of a running job. Calls may come from any thread; only `wait` and the destructor block.
class running_job {
 public:
  virtual ~running_job() = default;
  virtual job_progress progress() const = 0;
  /// Sends a request of the user, a request::kind.
  virtual void ask(uint8_t request_kind, bool by_signal) = 0;
  void save();
  void pause();
  void resume();
  void stop(bool by_signal);
  void abort();
  /// The result; absent if it is not there within the deadline.
  virtual std::optional<expected<train_result>> wait(std::optional<std::chrono::milliseconds> deadline) = 0;
};

/// Starts a job with detached threads for actors that may block; the others run on the scheduler thread of a separate
/// actor system, or on those of `host`, which then has to outlive the job and is neither awaited nor ended. If a thread
/// cannot be created, that error is the job's result.
std::unique_ptr<running_job> launch_local(std::shared_ptr<prepared_job> job, caf::actor_system* host = nullptr);

/// Makes the evaluation of an `evaluation_job` in a separate actor system; blocks until its result.
expected<evaluation_result> evaluate_local(std::shared_ptr<prepared_job> job);

/// The handle of a running prediction. Used by one thread at a time; `cancel` may come from any.
class running_prediction {
 public:
  /// Up to `batches_ahead` batches are made beyond the one that `next` returns.
  explicit running_prediction(int64_t batches_ahead) : ahead_(batches_ahead) {}
  virtual ~running_prediction() = default;

  /// The next batch's outputs; absent at the end of the data. An error is returned after all batches before it.
  expected<std::optional<step_values>> next();
  virtual void cancel() { queue_->cancel(); }
  /// Known after the first `next`.
  loaded_state from() const { return queue_->from(); }

 protected:
  const std::shared_ptr<prediction_queue>& queue() const noexcept { return queue_; }

 private:
  virtual void ask(int64_t until) = 0;  ///< Credit: there is room for every batch below `until`.
  virtual bool wait() = 0;              ///< Waits until the queue has something to take; false: not in time.

  std::shared_ptr<prediction_queue> queue_ = std::make_shared<prediction_queue>();
  int64_t ahead_;
  int64_t asked_ = 0;
  int64_t taken_ = 0;
};

/// Runs in an actor system of its own; if a thread for it cannot be created, `next` returns that error. Its destructor ends
/// the actors, and waits for them at most as long as a job's stop.
std::unique_ptr<running_prediction> predict_local(std::shared_ptr<prepared_job> job);

}  // namespace troupe
