// The waits of an actor, each with a patience, as plain data. The actor keeps a single timer and asks here which waits
// are due.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace troupe {

/// There is at most one wait of each kind at a time. A wait counts only time in which the process ran: between two
/// looks at most two periods count, so that a process that was stopped and continued fails no wait for it.
class waits {
 public:
  using nanoseconds = std::chrono::nanoseconds;
  /// The timer period: an eighth of the shortest wait that the actor can ever arm, from 1 to 250 ms.
  static std::chrono::milliseconds period_for(std::initializer_list<nanoseconds> patiences);

  explicit waits(int32_t kinds = 1, std::chrono::milliseconds period = std::chrono::milliseconds{250});

  /// Begins a wait, or begins it again: each new wait of a kind has the whole patience.
  void arm(int32_t kind, nanoseconds patience);
  void disarm(int32_t kind);
  void disarm_all();
  bool armed(int32_t kind) const { return all_[static_cast<size_t>(kind)].armed; }
  bool any() const;
  std::chrono::milliseconds period() const { return period_; }

  struct due_wait {
    int32_t kind = 0;
    uint64_t number = 0;
  };
  /// The waits that are over now, `elapsed` after the last look. Each is returned once; the actor handles its mailbox
  /// first, which may hold the answer already, and then calls `expires`.
  std::vector<due_wait> pass(nanoseconds elapsed);
  /// True: the wait was neither answered nor begun again meanwhile; it is disarmed.
  bool expires(int32_t kind, uint64_t number);

 private:
  struct wait {
    bool armed = false, told = false;
    uint64_t number = 0;
    nanoseconds left{0};
  };
  std::vector<wait> all_;
  std::chrono::milliseconds period_;
};

}  // namespace troupe
