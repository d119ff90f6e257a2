// Failures: which error is the root cause, and how the chief responds when a node dies, hangs or fails. Plain data.
#pragma once

#include "words/roles.hpp"

#include <troupe/error.hpp>

#include <optional>
#include <span>
#include <vector>

namespace troupe {

/// The root cause: the earliest error that is a cause in itself. If all errors are consequences of others: the earliest
/// of the most severe. `causes` is in order of time and not empty; the other errors become notes of the root cause.
error root_cause(std::span<const error> causes);

/// What a new attempt can do about a failure.
enum class cure : uint8_t {
  by_category,  ///< A new attempt cures `aborted` and `unavailable`.
  none,         ///< The job ends, whatever the category.
  by_chance,    ///< A node was killed: a new attempt cures that, even if it happens again at the same step.
};

/// The failures of an attempt, in order of time.
class failure_log {
 public:
  bool empty() const noexcept { return causes_.empty(); }
  /// Adds a failure. `of`: the group whose node failed. An error that is there already is not added again; after an
  /// abort, further errors become notes of the abort.
  void add(error cause, cure how = cure::by_category, std::optional<group_id> of = {});
  /// The user has aborted the job. The abort is the root cause unless an error came first.
  void abort(error cause);
  bool aborted() const noexcept { return aborted_; }
  /// Adds a note to the root cause.
  void note(std::string text);
  /// The root cause. Requires a log that is not empty.
  error root() const;
  /// Whether a new attempt can cure all failures, apart from cancellations that follow from others. False for an empty
  /// log.
  bool curable() const;
  /// Whether a node was killed, which says nothing about the step at which it happened.
  bool has_kill() const;
  /// The only group whose nodes failed; absent if another cause exists. Cancellations that follow from others do not
  /// count.
  std::optional<group_id> only_group() const;

 private:
  std::vector<error> causes_;
  std::vector<cure> cures_;                      ///< For each cause.
  std::vector<std::optional<group_id>> groups_;  ///< For each cause.
  std::vector<std::string> notes_;
  bool aborted_ = false;
};

/// The response by the table of roles. Before training there is nothing to save: a failure without recovery ends the
/// job at once.
response response_to(role who, trouble what) noexcept;

}  // namespace troupe
