// Groups: which may leave the job, which have left, and what the books say about them. Plain data.
#pragma once

#include "plan/plan_group.hpp"
#include "words/checkpoint_books.hpp"

#include <troupe/error.hpp>

#include <map>
#include <vector>

namespace troupe {

/// How a group left.
struct departure {
  int64_t step = 0;         ///< The first step that the group did not make.
  int64_t first_state = 0;  ///< Snapshots of this state and of later ones lack its variables.
  std::string why;
  friend bool operator==(const departure&, const departure&) = default;
};

/// Which groups have left is part of the state: checkpoints record it, and an attempt begins with what its checkpoint
/// records. A group that left after that commit comes back and fails at the same step again, so the job has the same
/// bits as without the interruption. A death says nothing about a step: a group that is dropped for it stays dropped
/// while the process lives.
///
/// A group that falls with another leaves at the same step, because it reads from the other and cannot have made that
/// step.
class groups {
 public:
  explicit groups(std::vector<plan_group> policies = {}) : policies_(std::move(policies)) {}

  const std::vector<plan_group>& policies() const noexcept { return policies_; }
  const std::map<group_id, departure>& left() const noexcept { return left_; }
  bool has_left(group_id id) const { return left_.contains(id); }
  bool any_left() const { return !left_.empty(); }
  /// Whether any group that trains has not left.
  bool any_remains() const { return left_.empty() || left_.size() < policies_.size(); }
  /// Whether the group leaves because of this error in one of its own steps. Only values that are not finite concern
  /// one group alone: bad input concerns every group, and so does a lack of memory or the like.
  bool leaves_for(group_id id, const error& cause) const;
  /// The group has made all steps below `step`, and its state there is its last. Returns the groups that leave there:
  /// this one, and those that fall with it.
  std::vector<group_id> leave_at(int64_t step, group_id id, const error& cause);
  /// Whether the group may be dropped if its nodes have died and no attempt can cure that: its policy allows it and
  /// another group remains.
  bool may_drop(group_id id) const;
  /// From the next attempt on the job goes on without the group and those that fall with it, whatever the checkpoint
  /// says at which that attempt begins.
  void drop(group_id id, const error& cause);
  bool is_dropped(group_id id) const { return dropped_.contains(id); }
  /// An attempt begins at a checkpoint of `step` with these books. The groups that have left are those that the books
  /// name and those that were dropped.
  void restore(int64_t step, const checkpoint_books& books);
  /// The books' entry about the group in each checkpoint that lacks it.
  checkpoint_books book_of(group_id id) const;
  /// Why the job fails once every group has left: the cause with the earliest step. At the same step a cause that is
  /// not a fall comes first, then the order of the plan.
  error first_cause() const;
  /// "group 'b' left at step 12: nan_loss: ...", for people.
  std::string text_of(group_id id) const;
  /// All departures in one line; empty if no group has left.
  std::string text() const;

 private:
  const plan_group* find(group_id id) const;
  /// The groups that fall with the group, directly or indirectly, except those that have left.
  std::vector<group_id> followers_of(group_id id) const;
  /// The text does not depend on which of the groups was the first to leave, because two may leave at one step.
  std::string why_it_falls(group_id id) const;

  std::vector<plan_group> policies_;
  std::map<group_id, departure> left_;
  std::map<group_id, std::string> dropped_;  ///< With the reason.
};

}  // namespace troupe
