// Memory that ends: at a chosen allocation of the calling thread by operator new, and at all after it.
#pragma once

#include <cstdint>

namespace troupe::test {

/// Until its end only so many allocations of this thread are given memory.
class scarce_memory {
 public:
  explicit scarce_memory(int64_t allocations) noexcept;
  ~scarce_memory();
  scarce_memory(const scarce_memory&) = delete;
  scarce_memory& operator=(const scarce_memory&) = delete;

  /// From now on none is.
  void end() noexcept;
  /// Whether one has been refused.
  bool ended() const noexcept;
};

}  // namespace troupe::test
