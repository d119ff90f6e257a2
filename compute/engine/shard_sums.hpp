// The sum of the gradients of a replica's shards, by the pairwise tree.
#pragma once

#include "compute/parameters/parameter_store.hpp"

namespace troupe {

/// Adds like a binary counter: level l holds the sum of 2^l consecutive shards. R replicas of S/R shards each therefore
/// add in the same order as one replica of S shards. Used by one thread at a time.
class shard_sums {
 public:
  /// Allocates buffers for `shards`, a power of two: one per level and one for the current shard. A single shard needs
  /// one buffer in all. resource_exhausted if there is not enough memory.
  expected<void> allocate(const parameter_layout& layout, int32_t shards);

  void begin() noexcept { filled_ = 0; }
  /// Where the gradient of the next shard is written.
  std::byte* at() const noexcept { return buffers_.back().get(); }
  /// Adds the gradient that was written at `at()`.
  void add(const parameter_layout& layout);
  /// The sum, once all shards are added. It shares memory that the next shards overwrite.
  tensor total(const parameter_layout& layout) const {
    return {dtype::uint8, {layout.gradient_bytes()}, buffers_[root_]};
  }

 private:
  std::vector<std::shared_ptr<std::byte>> buffers_;
  size_t root_ = 0;
  uint32_t filled_ = 0;
};

}  // namespace troupe
