// Buffers that are handed out, filled once, shared as immutable tensors, and come back when the last holder lets go.
#pragma once

#include <troupe/tensor.hpp>

#include <mutex>

namespace troupe {

/// Reference-counted: buffers outlive the pool's last handle, and return to a pool that still lives. Who keeps a buffer keeps
/// nobody waiting: another one is made in its place. Any thread.
class buffer_pool {
 public:
  /// Keeps at most `spare_max` (at least 1) returned buffers: as many as are on their way at once.
  explicit buffer_pool(size_t spare_max = 4);

  /// At least `bytes` bytes, 64-byte aligned, uninitialised: a spare buffer, of those of not much more than `bytes` the smallest,
  /// or a new one. Null when memory is exhausted.
  std::shared_ptr<std::byte> take(int64_t bytes);
  /// A copy of `bytes` as a tensor over such a buffer; over one of its own where a few of them are all. Throws std::bad_alloc, as
  /// tensor::copy_of.
  tensor copy_of(dtype type, const shape& dims, std::span<const std::byte> bytes);

 private:
  struct shelf;
  std::shared_ptr<shelf> shelf_;
};

}  // namespace troupe
