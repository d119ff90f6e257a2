// The waits of an actor, each with a time limit, as plain data. The actor keeps a single timer and asks here which
// waits are due.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace troupe {

/// There is at most one wait of each kind at a time. A wait counts only time in which the process ran: between two
/// looks at most two periods count, so that suspending the process makes no wait run out.
class waits {
 public:
  using nanoseconds = std::chrono::nanoseconds;
  /// The timer period: an eighth of the shortest of these waits, from 1 to 250 ms. A wait may end a period late, so a
  /// fixed one of a second or more need not be among them.
  static std::chrono::milliseconds period_for(std::initializer_list<nanoseconds> patiences);

  explicit waits(int32_t kinds = 1, std::chrono::milliseconds period = std::chrono::milliseconds{250});

  /// Begins or restarts a wait: each new wait of a kind gets the whole time limit. `in_pause`: its time also passes
  /// while the actor has paused its waits.
  void arm(int32_t kind, nanoseconds patience, bool in_pause = false);
  void disarm(int32_t kind);
  void disarm_all();
  bool armed(int32_t kind) const { return all_[static_cast<size_t>(kind)].armed; }
  bool any(bool paused = false) const;  ///< In a pause: any whose time passes.
  std::chrono::milliseconds period() const { return period_; }

  struct due_wait {
    int32_t kind = 0;
    uint64_t number = 0;
  };
  /// Subtracts `elapsed`, the time since the last call, from what is left of each wait, and returns the waits whose
  /// time has run out, each once. They stay armed: the actor handles its mailbox, which may hold the answer, and then
  /// calls `expires`.
  std::vector<due_wait> pass(nanoseconds elapsed, bool paused = false);
  /// Returns true, and disarms the wait, if it was neither answered nor restarted meanwhile.
  bool expires(int32_t kind, uint64_t number);

 private:
  struct wait {
    bool armed = false, told = false, in_pause = false;
    uint64_t number = 0;
    nanoseconds left{0};
  };
  std::vector<wait> all_;
  std::chrono::milliseconds period_;
};

}  // namespace troupe
