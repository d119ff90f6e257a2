// Evaluations: which checkpoint is evaluated next, and when. Plain data.
#pragma once

#include "messages/evaluation.hpp"
#include "messages/summary.hpp"

#include <chrono>

namespace troupe {

/// Allows one evaluation at a time. Only the newest checkpoint waits; it supersedes older ones.
class evaluations {
 public:
  using nanoseconds = std::chrono::nanoseconds;
  explicit evaluations(double throttle_secs = 600) : throttle_secs_(throttle_secs) {}

  /// Adds a checkpoint that may be evaluated. Returns the one that it supersedes, whose lease ends.
  std::optional<checkpoint_id> offer(checkpoint_id id);
  std::optional<checkpoint_id> waiting() const noexcept { return waiting_; }
  std::optional<checkpoint_id> running() const noexcept { return running_; }
  std::optional<checkpoint_id> last() const noexcept { return last_; }  ///< The newest that ended, with or without an error.
  /// Whether that checkpoint was offered, or one of a later step.
  bool was_offered(checkpoint_id id) const noexcept { return offered_ && (id.step < offered_->step || id == *offered_); }
  /// Whether that checkpoint waits or is being evaluated.
  bool concern(checkpoint_id id) const noexcept { return waiting_ == id || running_ == id; }
  /// No checkpoint waits, and no evaluation runs.
  bool idle() const noexcept { return !waiting_ && !running_; }

  enum class next : uint8_t {
    nothing,   ///< An evaluation runs, or no checkpoint waits.
    skip,      ///< It is too soon after the previous one, or there is no evaluator: the waiting checkpoint is dropped.
    need_room, ///< The event file has no room for the results yet.
    begin,
  };
  struct situation {
    nanoseconds now{};
    bool possible = true;  ///< There is an evaluator, and the job was not stopped by a signal.
    bool at_the_end = false;  ///< The waiting checkpoint is the job's last and is not throttled.
    bool recorded = false; ///< Results go to an event file.
  };
  next decide(const situation& s) const;
  /// The evaluation of the waiting checkpoint begins.
  void begin(nanoseconds now);
  /// The waiting checkpoint is not evaluated.
  void drop_waiting() { waiting_.reset(); }
  /// The running evaluation has ended. Returns its checkpoint; absent: none was running.
  std::optional<checkpoint_id> end();
  /// The evaluator is lost. Returns the checkpoint of the running evaluation, whose outcome is unknown.
  std::optional<checkpoint_id> lose() { return std::exchange(running_, std::nullopt); }
  /// After a stop by signal: whether to cancel the running evaluation; true only once.
  bool cancel() { return running_ && !std::exchange(cancelled_, true); }
  bool cancelled() const noexcept { return cancelled_; }

  /// Numbers a record; each evaluation sends two, on credit of the summary writer.
  int64_t number_record() { return records_++; }
  void room_until(int64_t number) { room_ = std::max(room_, number); }

 private:
  double throttle_secs_;
  std::optional<checkpoint_id> waiting_, running_, last_, offered_;
  std::optional<nanoseconds> began_;  ///< When the newest one began.
  bool cancelled_ = false;
  int64_t records_ = 0;
  int64_t room_ = record_window;
};

}  // namespace troupe
