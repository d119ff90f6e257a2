// Failures: which error is the root cause, and how the chief responds when a node dies, hangs or fails. Plain data.
#pragma once

#include "words/roles.hpp"

#include <troupe/error.hpp>

#include <optional>
#include <span>
#include <vector>

namespace troupe {

/// The root cause: the earliest error that is a cause in itself; if all are consequences of other errors, the earliest of
/// the most severe. `causes` is in order of time and not empty; the others become notes of the root cause.
error root_cause(std::span<const error> causes);

/// What a new attempt could do about a failure.
enum class cure : uint8_t {
  by_category,  ///< It cures `aborted` and `unavailable`.
  none,         ///< The job ends, whatever the category.
  by_chance,    ///< A node was killed: a new attempt cures that, even if it happens at the same step again.
};

/// The failures of an attempt, in order of time.
class failure_log {
 public:
  bool empty() const noexcept { return causes_.empty(); }
  /// `of`: the group whose node failed. An error that was added before counts once; after an abort, further errors become notes of the abort.
  void add(error cause, cure how = cure::by_category, std::optional<group_id> of = {});
  /// The user has aborted the job, which is the root cause, unless there was an error before.
  void abort(error cause);
  bool aborted() const noexcept { return aborted_; }
  /// Adds a note to the root cause.
  void note(std::string text);
  /// The root cause of a log that is not empty.
  error root() const;
  /// Whether a new attempt can cure all of them, but for what was cancelled in consequence. False for an empty log.
  bool curable() const;
  /// Whether one of them is the killing of a node, which says nothing about the step at which it happened.
  bool has_kill() const;
  /// The group whose nodes' failures are all the causes, but for what was cancelled in consequence.
  std::optional<group_id> only_group() const;

 private:
  std::vector<error> causes_;
  std::vector<cure> cures_;  ///< For each cause.
  std::vector<std::optional<group_id>> groups_;  ///< For each cause.
  std::vector<std::string> notes_;
  bool aborted_ = false;
};

/// By the table of roles. Before training there is nothing to save: what is not recovered fails at once.
response response_to(role who, trouble what) noexcept;

}  // namespace troupe
