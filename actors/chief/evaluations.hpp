// The evaluations of a job, each with a schedule of its own: which of them still need a checkpoint, and whether training waits for
// that. Plain data.
#pragma once

#include "actors/chief/evaluation_schedule.hpp"

#include <troupe/estimator.hpp>
#include <troupe/progress.hpp>

namespace troupe {

/// The settings of one evaluation, from its eval_spec.
struct evaluation_settings {
  std::string name = {};
  double throttle_secs = 600;
  double start_delay_secs = 0;
  int64_t sanity_batches = 0;
  std::optional<int64_t> every_steps = {};  ///< Evaluates the state at the multiples of so many steps, saved or not.
  evaluation_mode when = evaluation_mode::waits;
  failure_policy on_failure = failure_policy::fail;
  bool exports = false;         ///< Exporters run after each evaluation.
  bool exports_at_end = false;  ///< Some of them at the end of a job that has reached its goal.
  std::vector<group_id> groups = {};  ///< Those whose variables it evaluates: it takes no part in states that lack one of them.
};

/// Evaluations are numbered in the order of the plan. One whose evaluator is lost takes part in nothing any more.
class evaluations {
 public:
  evaluations() = default;
  explicit evaluations(const std::vector<evaluation_settings>& settings);

  size_t size() const noexcept { return all_.size(); }
  const evaluation_settings& settings(size_t which) const { return all_[which].settings; }
  evaluation_schedule& at(size_t which) { return all_[which].schedule; }
  const evaluation_schedule& at(size_t which) const { return all_[which].schedule; }
  bool any() const;  ///< One of them is not lost.
  /// Whether training waits for one of them: for those that `waits`, and for all if a hook holds the fact of an evaluation.
  bool are_gates(bool held) const;

  /// An attempt begins at this checkpoint: later states are made and offered again, with all groups until one has left.
  void begin(checkpoint_id id);
  /// That state is evaluated by nobody: an iteration begins with it.
  void pass_over(checkpoint_id id) { offered_ = id; }
  /// The groups whose variables each evaluates, of another plan.
  void evaluate_groups(const std::vector<std::vector<group_id>>& groups);
  bool is_lost(size_t which) const { return which < all_.size() && all_[which].lost; }
  /// States from `first` on are without that group. Returns the evaluations that take no part in them for the first time.
  std::vector<size_t> leave(group_id group, int64_t first);
  /// Whether an evaluation is made of that state.
  bool takes_part(size_t which, int64_t step) const { return all_[which].takes_part(step); }
  /// Offers a new checkpoint to all that have not seen its state. Returns those that it supersedes and that none needs any more.
  std::vector<checkpoint_id> offer(checkpoint_id id);
  /// The first state after `step` that one of them evaluates whether it is saved or not; INT64_MAX: none.
  int64_t next_shown(int64_t step) const;
  /// Whether this one does.
  bool shows(size_t which, int64_t step) const;
  /// Offers the last checkpoint to those that have not evaluated it.
  void offer_last(checkpoint_id id);
  /// Whether that checkpoint was offered, or one of a later step.
  bool was_offered(checkpoint_id id) const noexcept { return offered_ && (id.step < offered_->step || id == *offered_); }
  /// Whether that checkpoint waits or is being evaluated.
  bool concern(checkpoint_id id) const;
  /// The same for those that training waits for, and for checks.
  bool hold(checkpoint_id id, bool held) const;
  /// Those that their evaluators were asked for and have not finished, in order.
  std::vector<evaluation_progress> under_way() const;
  /// No checkpoint waits, and no evaluation runs.
  bool idle() const;
  /// All of them have evaluated it, with or without an error.
  bool have_ended(checkpoint_id id) const;
  void drop_waiting();
  /// The evaluator is lost, and takes part no more. Returns the checkpoints that it would have evaluated.
  std::vector<checkpoint_id> lose(size_t which);

 private:
  struct evaluation {
    evaluation_settings settings;
    evaluation_schedule schedule;
    bool lost = false;
    std::optional<int64_t> until = {};  ///< The first state that lacks one of its groups.
    bool takes_part(int64_t step) const noexcept { return !lost && !(until && step >= *until); }
    bool is_gate(bool held) const noexcept { return !lost && (held || settings.when == evaluation_mode::waits); }
  };
  std::vector<evaluation> all_;
  std::optional<checkpoint_id> offered_;
};

}  // namespace troupe
