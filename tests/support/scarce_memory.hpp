// Simulates the end of memory: from a chosen allocation of the calling thread on, operator new fails.
#pragma once

#include <cstdint>

namespace troupe::test {

/// While it exists, only the first `allocations` allocations of this thread succeed.
class scarce_memory {
 public:
  explicit scarce_memory(int64_t allocations) noexcept;
  ~scarce_memory();
  scarce_memory(const scarce_memory&) = delete;
  scarce_memory& operator=(const scarce_memory&) = delete;

  /// Lets every further allocation fail.
  void end() noexcept;
  /// True: an allocation has failed.
  bool ended() const noexcept;
};

}  // namespace troupe::test
