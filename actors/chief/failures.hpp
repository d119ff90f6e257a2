// Failures: which of them is the cause, and what becomes of the job when a node of some role dies, hangs or fails. Plain data.
#pragma once

#include "words/roles.hpp"

#include <troupe/error.hpp>

#include <span>
#include <vector>

namespace troupe {

/// The root cause: the earliest error that is a cause in itself; else, of those that only follow from something, the
/// earliest of the most severe. `causes` is in order of time, not empty; the others become its notes.
error root_cause(std::span<const error> causes);

/// What went wrong in a job, in order of time.
class failure_log {
 public:
  bool empty() const noexcept { return causes_.empty(); }
  /// One that came by another way before counts once; after an abort all are its notes.
  void add(error cause);
  /// The user has given up: that is the cause, unless there was another.
  void abort(error cause);
  bool aborted() const noexcept { return aborted_; }
  /// Of a log that is not empty.
  error root() const;

 private:
  std::vector<error> causes_;
  bool aborted_ = false;
};

/// What may happen to a node.
enum class trouble : uint8_t {
  dies,    ///< Its actor ended by itself.
  hangs,   ///< It was waited for longer than its deadline.
  throws,  ///< It said that it cannot go on.
};
std::string_view to_string(trouble t) noexcept;

/// What follows while the job trains or drains.
enum class response : uint8_t {
  save_and_fail,     ///< The model is well: its state at the horizon is saved, then the job fails.
  replace_and_fail,  ///< A new checkpoint writer makes the last save, once; then the job fails.
  settle_and_fail,   ///< No later step can be made: saves that can still be completed are, then the job fails.
  by_policy,         ///< on_evaluator_failure: a warning, or save_and_fail.
};
std::string_view to_string(response r) noexcept;

struct failure_rule {
  role who;
  trouble what;
  response then;
};
/// The table of docs/actors.md, which a test compares with it. Before training there is nothing to save: the job fails at once.
std::span<const failure_rule> failure_rules() noexcept;
/// Of one of the table's roles.
response response_to(role who, trouble what) noexcept;

/// Whose last words still count when the end was said: they come after the last step.
bool is_heard_at_the_end(role who) noexcept;

}  // namespace troupe
