// Launchers: they turn a prepared job into running actors. Each launcher trains, evaluates and predicts; they differ
// only in the world that the actors live in.
//
//   local_launcher      a separate actor system for each job, on threads
//   hosted_launcher     the program's own actor system, on threads
//   simulated_launcher  one thread, a virtual clock, an order drawn by seed (simulated_launcher.hpp)
#pragma once

#include "actors/job_board.hpp"
#include "pipeline/launch/prediction_queue.hpp"
#include "pipeline/plan/jobs.hpp"

#include <troupe/job.hpp>

namespace caf {
class actor_system;
}

namespace troupe {

class job_world;

/// A job with everything it needs to run: models planned, memory allocated.
struct prepared_job;

/// Prepares a job before any actor exists, so that errors of a model, an input or a configuration are returned at once.
/// Errors: invalid_argument, and the errors of the model, the datasets and allocation.
expected<std::shared_ptr<prepared_job>> prepare(any_job job);
/// The same with the caller's plan and resources, which replace the job's own model and datasets. From `job`, only
/// settings that are not part of a plan are used. Error: also invalid_argument as for `check`.
expected<std::shared_ptr<prepared_job>> prepare(any_job job, planned_job planned);

/// The handle of a running job. Any thread may call it; only `wait` and the destructor block. The destructor aborts the
/// job and waits for its actors, at most as long as the chief waits for its hooks and actors.
class running_job {
 public:
  virtual ~running_job() = default;
  virtual job_progress progress() const = 0;
  /// Whether the job has its result.
  virtual bool ended() const = 0;
  /// Sends a request of the user, a request::kind.
  virtual void ask(uint8_t request_kind, stop_reason reason = stop_reason::request) = 0;
  void save();
  void pause();
  void resume();
  void stop(stop_reason reason);
  void abort();
  /// What the job's actors have done with their time. See job::report.
  virtual expected<job_report> report(std::chrono::milliseconds deadline) = 0;
  /// Waits for the result; absent if the deadline passes first.
  virtual std::optional<expected<train_result>> wait(std::optional<std::chrono::milliseconds> deadline) = 0;
  /// Waits until the state is reached or the job has its result; false if the deadline passes first.
  virtual bool reach(int64_t step, std::optional<std::chrono::milliseconds> deadline) = 0;
  /// Of a session: waits until it is ready for the first call. Absent: the job has its result, or the deadline passed.
  virtual std::optional<run_end> ready(std::optional<std::chrono::milliseconds> deadline) = 0;
  /// Asks for that and waits for the end of it, as long as the chief's deadlines allow; one call at a time. After an
  /// end that is `preempted`, `begun_anew` waits for the end of the same call. Absent: the job has its result.
  virtual std::optional<run_end> call(const session_call& x) = 0;
  /// Of a session: copies of these variables, all of one state. Absent: the job has its result, the deadline passed, or
  /// the caller gave up, which is asked after each `look_again`.
  virtual std::optional<reading> read(const std::vector<std::string>& names, std::chrono::milliseconds deadline,
                                      const std::function<bool()>& given_up) = 0;
  virtual void look_again() = 0;
};

/// The handle of a running evaluation, used by one thread. Its destructor ends the actors and waits for them, at most
/// for the job's `stop` deadline.
class running_evaluation {
 public:
  virtual ~running_evaluation() = default;
  /// Blocks until there is a result, at most as long as the job's deadlines allow. Later calls return the same result.
  virtual expected<evaluation_result> wait() = 0;
};

/// The handle of a running prediction. Used by one thread at a time; any thread may call `cancel`. Its destructor ends
/// the actors and waits for them, at most for the job's `stop` deadline.
class running_prediction {
 public:
  /// Up to `batches_ahead` batches are computed before `next` asks for them. `changed` is called after each change of
  /// the queue.
  explicit running_prediction(int64_t batches_ahead, std::function<void()> changed = {})
    : queue_(std::make_shared<prediction_queue>(std::move(changed))), ahead_(batches_ahead) {}
  virtual ~running_prediction() = default;

  /// The outputs of the next batch; absent at the end of the data. If the prediction fails, the error follows the
  /// batches made before it.
  expected<std::optional<step_values>> next();
  virtual void cancel() { queue_->cancel(); }
  /// The checkpoint that was loaded. Known after the first `next`.
  loaded_state from() const { return queue_->from(); }

 protected:
  const std::shared_ptr<prediction_queue>& queue() const noexcept { return queue_; }

 private:
  virtual void ask(int64_t until) = 0;  ///< Gives the predictor credit for every batch below `until`.
  virtual bool wait() = 0;  ///< Waits until the queue has something to take; false if the deadline passes first.

  std::shared_ptr<prediction_queue> queue_;
  int64_t ahead_;
  int64_t asked_ = 0;
  int64_t taken_ = 0;
};

/// Each call starts the actors of one prepared job. The job must be of the kind that the function is named for, and is
/// launched only once. If no world can be made (no thread, no memory), the job's result is that error.
class launcher {
 public:
  launcher() = default;
  launcher(const launcher&) = delete;
  launcher& operator=(const launcher&) = delete;
  virtual ~launcher() = default;

  std::unique_ptr<running_job> train(std::shared_ptr<prepared_job> job);
  /// Of a `follower_job`.
  std::unique_ptr<running_job> follow(std::shared_ptr<prepared_job> job);
  std::unique_ptr<running_evaluation> evaluate(std::shared_ptr<prepared_job> job);
  std::unique_ptr<running_prediction> predict(std::shared_ptr<prepared_job> job);
  /// The number of processors that the threads of a replica may use; the value for `job_basis::processors`.
  virtual int32_t processors() const { return 1; }

 private:
  virtual expected<std::shared_ptr<job_world>> make_world() = 0;
};

/// Actors that may block have detached threads; all others run on the scheduler thread of the job's own actor system.
class local_launcher final : public launcher {
 public:
  int32_t processors() const override;

 private:
  expected<std::shared_ptr<job_world>> make_world() override;
};

/// Like `local_launcher`, but in the actor system `host`. `host` must know Troupe's messages and outlive every job. The
/// launcher neither waits for it nor ends it.
class hosted_launcher final : public launcher {
 public:
  explicit hosted_launcher(caf::actor_system& host) : host_(host) {}
  int32_t processors() const override;

 private:
  expected<std::shared_ptr<job_world>> make_world() override;
  caf::actor_system& host_;
};

}  // namespace troupe
