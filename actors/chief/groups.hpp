// Groups: which of them may leave the job, which have left, and what the books say of it. Plain data.
#pragma once

#include "plan/plan_group.hpp"
#include "words/checkpoint_books.hpp"

#include <troupe/error.hpp>

#include <map>
#include <vector>

namespace troupe {

/// How a group left.
struct departure {
  int64_t step = 0;         ///< The first batch that it made nothing of.
  int64_t first_state = 0;  ///< Snapshots of this state and of later ones are without its variables.
  std::string why;
  friend bool operator==(const departure&, const departure&) = default;
};

/// What has left is part of the state: a checkpoint says it, and an attempt begins with what its checkpoint says. So a group that
/// left after that commit comes back, fails at the same step again, and the job has the bits of one that was not interrupted. A death says
/// nothing about a step: who is dropped for it stays so while the process lives.
///
/// A group that falls with another leaves with it, at the same step: it reads from it, so that it cannot have made that step.
class groups {
 public:
  explicit groups(std::vector<plan_group> policies = {}) : policies_(std::move(policies)) {}

  const std::vector<plan_group>& policies() const noexcept { return policies_; }
  const std::map<group_id, departure>& left() const noexcept { return left_; }
  bool has_left(group_id id) const { return left_.contains(id); }
  /// Whether a group trains that has not left.
  bool any_remains() const { return left_.empty() || left_.size() < policies_.size(); }
  /// Whether the group leaves for this error in one of its own steps. Only numbers that are not finite are the group's alone: bad
  /// input is every group's, and what else a step may lack, such as memory, the others lack as well.
  bool leaves_for(group_id id, const error& cause) const;
  /// The group made all batches below `step`, and its state there is its last. Returns who leaves there: the group, and those that fall with it.
  std::vector<group_id> leave_at(int64_t step, group_id id, const error& cause);
  /// Whether the group is dropped where its nodes have died and are not to be cured, and another one remains.
  bool may_drop(group_id id) const;
  /// The job goes on without the group, and without those that fall with it, from the next attempt on, whatever the checkpoint says from which that
  /// begins.
  void drop(group_id id, const error& cause);
  bool is_dropped(group_id id) const { return dropped_.contains(id); }
  /// An attempt begins at a checkpoint of `step` with these books: only the groups that it names, or that
  /// were dropped, have left.
  void restore(int64_t step, const checkpoint_books& books);
  /// What each checkpoint of a state that is without the group says of it.
  checkpoint_books book_of(group_id id) const;
  /// Why the job fails once every group has left: the first cause by step, of those at one step the first in the order of the plan that is no fall.
  error first_cause() const;
  /// "group 'b' left at step 12: nan_loss: ...", for people.
  std::string text_of(group_id id) const;
  /// All of them in one line; empty: none has left.
  std::string text() const;

 private:
  const plan_group* find(group_id id) const;
  /// Those that fall with the group, directly or by others; those that have left excepted.
  std::vector<group_id> followers_of(group_id id) const;
  /// The same text whichever of the groups was the first to leave: two may do so at one step.
  std::string why_it_falls(group_id id) const;

  std::vector<plan_group> policies_;
  std::map<group_id, departure> left_;
  std::map<group_id, std::string> dropped_;  ///< With the reason.
};

}  // namespace troupe
