// The evaluations of a job, each with its own schedule: which of them still need a checkpoint, and whether training
// waits for them. Plain data.
#pragma once

#include "actors/chief/evaluation_schedule.hpp"
#include "words/evaluation_purpose.hpp"

#include <troupe/estimator.hpp>
#include <troupe/progress.hpp>

namespace troupe {

/// The settings of one evaluation, from its eval_spec.
struct evaluation_settings {
  std::string name = {};
  double throttle_secs = 600;
  double start_delay_secs = 0;
  int64_t sanity_batches = 0;
  /// Evaluates the states at multiples of this number of steps, saved or not.
  std::optional<int64_t> every_steps = {};
  evaluation_mode when = evaluation_mode::waits;
  failure_policy on_failure = failure_policy::fail;
  bool exports = false;         ///< Exporters run after each evaluation.
  bool exports_at_end = false;  ///< Some exporters run at the end of a job that has reached its goal.
  evaluation_purpose purpose = evaluation_purpose::regular;
  /// The groups whose variables it evaluates; it takes no part in states that lack one of them.
  std::vector<group_id> groups = {};
  int64_t least_steps = 0;  ///< From one evaluated checkpoint to the next; the last is exempt.
};

/// Evaluations are numbered in the order of the plan. An evaluation whose evaluator is lost takes part in nothing, and
/// one on demand takes part in no state: it is asked for by itself.
class evaluations {
 public:
  evaluations() = default;
  explicit evaluations(const std::vector<evaluation_settings>& settings);

  size_t size() const noexcept { return all_.size(); }
  const evaluation_settings& settings(size_t which) const { return all_[which].settings; }
  evaluation_schedule& at(size_t which) { return all_[which].schedule; }
  const evaluation_schedule& at(size_t which) const { return all_[which].schedule; }
  bool any() const;  ///< Whether any regular evaluation is not lost.
  /// The evaluation for that purpose, which is not `regular`; absent if there is none or its evaluator is lost.
  std::optional<size_t> demanded_for(evaluation_purpose purpose) const;
  /// Whether training waits for any evaluation: for those with `evaluation_mode::waits`, and for all if a hook holds
  /// the fact of an evaluation.
  bool are_gates(bool held) const;

  /// An attempt begins at this checkpoint: later states are made and offered again, with all groups until one leaves.
  void begin(checkpoint_id id);
  /// No evaluation is made of that state, because an iteration begins with it.
  void pass_over(checkpoint_id id) { offered_ = id; }
  /// Takes from another plan the groups whose variables each evaluation loads.
  void evaluate_groups(const std::vector<std::vector<group_id>>& groups);
  bool is_lost(size_t which) const { return which < all_.size() && all_[which].lost; }
  /// The group leaves: states from `first` on lack it. Returns the evaluations that end because of that.
  std::vector<size_t> leave(group_id group, int64_t first);
  /// Whether evaluation `which` takes part in the state of `step`.
  bool takes_part(size_t which, int64_t step) const { return all_[which].takes_part(step); }
  /// Offers a new checkpoint to all evaluations that have not seen its state. Returns the checkpoints that it
  /// supersedes and that no evaluation needs any more.
  std::vector<checkpoint_id> offer(checkpoint_id id);
  /// The first state after `step` that some evaluation evaluates whether it is saved or not; INT64_MAX if there is
  /// none.
  int64_t next_shown(int64_t step) const;
  /// Whether evaluation `which` evaluates that state whether it is saved or not.
  bool shows(size_t which, int64_t step) const;
  /// Offers the last checkpoint to the evaluations that have not evaluated it.
  void offer_last(checkpoint_id id);
  /// Whether that checkpoint, or one of a later step, was offered.
  bool was_offered(checkpoint_id id) const noexcept {
    return offered_ && (id.step < offered_->step || id == *offered_);
  }
  /// Whether any evaluation still needs that checkpoint.
  bool concern(checkpoint_id id) const;
  /// As `concern`, but only for checks and for evaluations that training waits for.
  bool hold(checkpoint_id id, bool held) const;
  /// The evaluations that evaluators were asked for and have not finished, in order.
  std::vector<evaluation_progress> under_way() const;
  /// No checkpoint waits, and no evaluation runs.
  bool idle() const;
  /// Whether all evaluations have evaluated that checkpoint, with or without an error.
  bool have_ended(checkpoint_id id) const;
  void drop_waiting();
  /// The evaluator is lost and takes part in nothing any more. Returns the checkpoints that it would have evaluated.
  std::vector<checkpoint_id> lose(size_t which);

 private:
  struct evaluation {
    evaluation_settings settings;
    evaluation_schedule schedule;
    bool lost = false;
    std::optional<int64_t> until = {};  ///< The first state that lacks one of its groups.
    bool is_regular() const noexcept { return !lost && settings.purpose == evaluation_purpose::regular; }
    bool takes_part(int64_t step) const noexcept { return is_regular() && !(until && step >= *until); }
    bool is_gate(bool held) const noexcept { return is_regular() && (held || settings.when == evaluation_mode::waits); }
  };
  std::vector<evaluation> all_;
  std::optional<checkpoint_id> offered_;
};

}  // namespace troupe
