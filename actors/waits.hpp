// Waits: what an actor waits for, each wait with a patience, as plain data. The actor keeps a single timer and asks here
// what is due.
#pragma once

#include <chrono>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace troupe {

/// One wait of each kind at a time. A wait lasts as long as the process ran: of the time between two looks no more counts
/// than two periods, so that a process that was stopped and goes on gives nobody up for that.
class waits {
 public:
  using nanoseconds = std::chrono::nanoseconds;
  /// How often an actor has to look: an eighth of the shortest wait it can ever arm, from 1 to 250 ms.
  static std::chrono::milliseconds period_for(std::initializer_list<nanoseconds> patiences);

  explicit waits(int32_t kinds = 1, std::chrono::milliseconds period = std::chrono::milliseconds{250});

  /// Begins to wait, or begins anew: who got what it waited for once waits for the next one from the start.
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
  /// `elapsed` since the last look: the waits that are over now. Each is told once; its actor looks at its mailbox once more,
  /// where the answer may lie already, and then asks `expires`.
  std::vector<due_wait> pass(nanoseconds elapsed);
  /// Whether that wait was neither answered nor begun anew meanwhile; it is disarmed then.
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
