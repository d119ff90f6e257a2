// A pool of buffers: each is taken, filled once, shared as an immutable tensor, and returned by its last holder.
#pragma once

#include <troupe/tensor.hpp>

#include <mutex>

namespace troupe {

/// Reference-counted: a buffer may outlive the pool, and returns to the pool if that still exists. `take` never waits
/// for a buffer: if none is spare, it allocates one. Thread-safe.
class buffer_pool {
 public:
  /// Keeps at most `spare_max` (at least 1) returned buffers; choose as many as are in flight at once.
  explicit buffer_pool(size_t spare_max = 4);

  /// At least `bytes` bytes, 64-byte aligned, uninitialised: the smallest spare buffer that is not much larger than
  /// `bytes`, or a new one. Null when memory is exhausted.
  std::shared_ptr<std::byte> take(int64_t bytes);
  /// A copy of `bytes` as a tensor in a buffer of the pool; a small copy has a buffer of its own. Throws
  /// std::bad_alloc, like tensor::copy_of.
  tensor copy_of(dtype type, const shape& dims, std::span<const std::byte> bytes);

 private:
  struct shelf;
  std::shared_ptr<shelf> shelf_;
};

}  // namespace troupe
