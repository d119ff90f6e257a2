// One call of a schedule of an experiment. It runs on the thread that calls it.
#pragma once

#include "estimator/commit_follower.hpp"

#include <troupe/experiment.hpp>

namespace troupe {

class experiment_run {
 public:
  explicit experiment_run(const experiment& of, std::shared_ptr<follower_time> time = system_time())
    : of_(of), time_(std::move(time)) {}

  expected<train_result> train(std::optional<double> delay_secs);
  expected<evaluation_result> evaluate(std::optional<double> delay_secs, const std::string& name);
  /// `which`: on the evaluation data, or on those of training.
  expected<experiment_result> continuous_eval(schedule which, const continuous_eval_options& options);
  /// `least_steps` of 0: only the last checkpoint is evaluated.
  expected<experiment_result> train_and_evaluate(schedule which, int64_t least_steps);
  expected<experiment_result> continuous_train_and_eval(const round_predicate& predicate);
  expected<experiment_result> run_std_server();
  expected<experiment_result> test();

  /// deadline_exceeded: no new checkpoint for `session_creation_timeout_secs`.
  expected<void> wait(const start_delay& before);

 private:
  /// Whether the experiment can run the schedule in this process.
  expected<void> check(schedule which) const;
  void wait_secs(double secs);
  void warn(const std::string& text) const;
  commit_stream::impl follower(commits_options options) const;
  train_spec training() const;
  eval_spec evaluation(std::string name) const;
  bool has_reached(int64_t step) const { return of_.train_steps && step >= *of_.train_steps; }
  /// The newest checkpoint, which must be there.
  expected<committed_checkpoint> newest(schedule which) const;
  /// Passes on the warnings of the result.
  expected<evaluation_result> evaluate_once(const eval_spec& spec, const checkpoint_ref& which) const;
  /// Evaluates the checkpoint and, if `exports`, exports it; it is held until both are done.
  expected<experiment_result> judge(const committed_checkpoint& at, const eval_spec& spec, bool exports) const;
  /// `again`: no step was made since an earlier job exported this checkpoint.
  expected<void> export_to(experiment_result& into, const eval_spec& spec, bool again) const;
  /// Trains up to the step `goal`.
  expected<train_result> train_round(int64_t goal);
  /// Waits for a commit other than `last`, or for the end of a round. Says that there is none, unless it has done so
  /// since `warned`.
  expected<void> wait_for_commit(std::optional<checkpoint_id> last, bool is_there, double throttle_secs,
                                 std::optional<std::chrono::nanoseconds>& warned);

  const experiment& of_;
  std::shared_ptr<follower_time> time_;
};

}  // namespace troupe
