// Groups: which of them may leave the job, which have left, and what the books say of it. Plain data.
#pragma once

#include "words/group_policy.hpp"

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
class groups {
 public:
  explicit groups(std::vector<group_policy> policies = {}) : policies_(std::move(policies)) {}

  const std::vector<group_policy>& policies() const noexcept { return policies_; }
  const std::map<group_id, departure>& left() const noexcept { return left_; }
  bool has_left(group_id id) const { return left_.contains(id); }
  /// Whether the group leaves for this error in one of its own steps. Only numbers that are not finite are the group's alone: bad
  /// input is every group's, and what else a step may lack, such as memory, the others lack as well.
  bool leaves_for(group_id id, const error& cause) const;
  /// Whether the group is dropped where its nodes have died and are not to be cured.
  bool may_drop(group_id id) const;
  /// The job goes on without the group from the next attempt on, whatever the checkpoint says from which that begins.
  void drop(group_id id, const error& cause) { dropped_.emplace(id, to_string(cause)); }
  bool is_dropped(group_id id) const { return dropped_.contains(id); }
  /// The group made all batches below `step`, and its state there is its last.
  const departure& leave_at(int64_t step, group_id id, const error& cause);
  /// An attempt begins at a checkpoint of `step` with these properties: only the groups that it names, or that
  /// were dropped, have left.
  void restore(int64_t step, const std::map<std::string, std::string>& properties);
  /// The properties of a checkpoint of `step`.
  std::map<std::string, std::string> books(int64_t step) const;
  /// "group 'b' left at step 12: nan_loss: ...", for people.
  std::string text_of(group_id id) const;
  /// All of them in one line; empty: none has left.
  std::string text() const;

 private:
  const group_policy* find(group_id id) const;

  std::vector<group_policy> policies_;
  std::map<group_id, departure> left_;
  std::map<group_id, std::string> dropped_;  ///< With the reason.
};

}  // namespace troupe
