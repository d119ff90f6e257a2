// The clock of coordinators in tests.
#pragma once

#include <troupe/coordinator.hpp>

#include <condition_variable>
#include <mutex>

namespace troupe::test {

/// Time that passes only where somebody waits for it, or spends it.
struct virtual_time : coordinator_clock {
  std::mutex guard;
  time at{};
  time now() override {
    const std::lock_guard lock{guard};
    return at;
  }
  void wait(std::unique_lock<std::mutex>& lock, std::condition_variable& changed,
            std::optional<time> deadline) override {
    if (!deadline)
      return changed.wait(lock);
    const std::lock_guard mine{guard};
    at = std::max(at, *deadline);
  }
  void spend(std::chrono::milliseconds span) {
    const std::lock_guard lock{guard};
    at += span;
  }
  int64_t seconds() { return std::chrono::duration_cast<std::chrono::seconds>(now().time_since_epoch()).count(); }
};

}  // namespace troupe::test
