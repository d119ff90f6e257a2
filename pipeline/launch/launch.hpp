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

/// Before any actor exists, so that what is wrong with a model, an input or a configuration is said at once: invalid_argument, and
/// whatever the model, the datasets and memory have to say.
expected<std::shared_ptr<prepared_job>> prepare(any_job job);
/// The same by a plan of the caller's, with a model and a dataset for each that it numbers; of the job's own only what no plan says
/// counts. Also invalid_argument as `check`.
expected<std::shared_ptr<prepared_job>> prepare(any_job job, planned_job planned);

/// A job that runs, seen from outside. Every call from any thread; none blocks but `wait` and the destructor.
class running_job {
 public:
  virtual ~running_job() = default;
  virtual job_progress progress() const = 0;
  /// What the user asks for: request::kind.
  virtual void ask(uint8_t request_kind, bool by_signal) = 0;
  void save();
  void stop(bool by_signal);
  void abort();
  /// The result, or nothing when it is not there in time.
  virtual std::optional<expected<train_result>> wait(std::optional<std::chrono::milliseconds> deadline) = 0;
};

/// Detached threads for whatever may block; one scheduler thread of a system of its own for the rest, or those of `host`, which
/// then has to outlive it and is neither waited for nor ended. Where a thread cannot be had, that is the job's result.
std::unique_ptr<running_job> launch_local(std::shared_ptr<prepared_job> job, caf::actor_system* host = nullptr);

/// One evaluation, of an `evaluation_job`, in a system of its own; blocks until its result.
expected<evaluation_result> evaluate_local(std::shared_ptr<prepared_job> job);

/// Predictions that are being made, seen from outside. One thread at a time; `cancel` from any.
class running_prediction {
 public:
  /// Up to `batches_ahead` batches are made beyond the one that is being taken.
  explicit running_prediction(int64_t batches_ahead) : ahead_(batches_ahead) {}
  virtual ~running_prediction() = default;

  /// The next batch's outputs; nothing at the end of the data. An error comes after all batches before it.
  expected<std::optional<step_values>> next();
  virtual void cancel() { queue_->cancel(); }
  /// Known after the first `next`.
  loaded_state from() const { return queue_->from(); }

 protected:
  const std::shared_ptr<prediction_queue>& queue() const noexcept { return queue_; }

 private:
  virtual void ask(int64_t until) = 0;  ///< There is room for every batch below `until`.
  virtual bool wait() = 0;              ///< Whether the queue has something to say in time.

  std::shared_ptr<prediction_queue> queue_ = std::make_shared<prediction_queue>();
  int64_t ahead_;
  int64_t asked_ = 0;
  int64_t taken_ = 0;
};

/// Runs in an actor system of its own; if a thread for it cannot be created, `next` returns that error. Its destructor ends
/// the actors, and waits for them at most as long as a job's stop.
std::unique_ptr<running_prediction> predict_local(std::shared_ptr<prepared_job> job);

}  // namespace troupe
