// Evaluations: which commit is evaluated next, and when. Plain data.
#pragma once

#include "messages/evaluation.hpp"
#include "messages/summary.hpp"

#include <chrono>

namespace troupe {

/// One evaluation at a time; of the commits that wait only the newest, which supersedes the others.
class evaluations {
 public:
  using nanoseconds = std::chrono::nanoseconds;
  explicit evaluations(double throttle_secs = 600) : throttle_secs_(throttle_secs) {}

  /// A commit that may be evaluated. The one that it takes the place of, whose lease ends.
  std::optional<int64_t> offer(int64_t step);
  std::optional<int64_t> waiting() const noexcept { return waiting_; }
  std::optional<int64_t> running() const noexcept { return running_; }
  std::optional<int64_t> last() const noexcept { return last_; }  ///< The newest that ended, well or not.
  /// Nothing is waited for or running.
  bool idle() const noexcept { return !waiting_ && !running_; }

  enum class next : uint8_t {
    nothing,   ///< One is running, or none waits.
    skip,      ///< Too soon after the one before, or nobody evaluates: the commit that waits is let go.
    need_room, ///< The event file has no room for the results yet.
    begin,
  };
  struct situation {
    nanoseconds now{};
    bool possible = true;  ///< There is an evaluator, and the job was not stopped by a signal.
    bool at_the_end = false;  ///< The commit that waits is the job's last: it is evaluated however soon after the one before.
    bool recorded = false; ///< Results go to an event file.
  };
  next decide(const situation& s) const;
  /// The commit that waits is begun.
  void begin(nanoseconds now);
  /// It is let go.
  void drop_waiting() { waiting_.reset(); }
  /// The one that runs has ended; absent: none did.
  std::optional<int64_t> end();
  /// The evaluator is gone: what it was at. Nothing is known of it.
  std::optional<int64_t> lose() { return std::exchange(running_, std::nullopt); }
  /// A stop by signal: whether the one that runs is to be cancelled; once.
  bool cancel() { return running_ && !std::exchange(cancelled_, true); }
  bool cancelled() const noexcept { return cancelled_; }

  /// Two records each, on credit of the event file's writer.
  int64_t number_record() { return records_++; }
  void room_until(int64_t number) { room_ = std::max(room_, number); }

 private:
  double throttle_secs_;
  std::optional<int64_t> waiting_, running_, last_;
  std::optional<nanoseconds> began_;  ///< The newest.
  bool cancelled_ = false;
  int64_t records_ = 0;
  int64_t room_ = record_window;
};

}  // namespace troupe
