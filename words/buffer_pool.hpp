// Buffers that are handed out, filled once, shared as immutable tensors, and come back when the last holder lets go.
#pragma once

#include <troupe/tensor.hpp>

#include <mutex>

namespace troupe {

/// Reference-counted: buffers outlive the pool's last handle, and return to a pool that still lives. Any thread.
class buffer_pool {
 public:
  /// Keeps at most `spare_max` returned buffers.
  explicit buffer_pool(size_t spare_max = 8) : shelf_(std::make_shared<shelf>()) { shelf_->spare_max = spare_max; }

  /// At least `bytes` bytes, 64-byte aligned, uninitialised; a spare one where it fits. Null when memory is exhausted.
  std::shared_ptr<std::byte> take(int64_t bytes);

 private:
  struct shelf {
    std::mutex guard;
    std::vector<std::pair<int64_t, std::shared_ptr<std::byte>>> spare;
    size_t spare_max = 8;
  };
  std::shared_ptr<shelf> shelf_;
};

}  // namespace troupe
