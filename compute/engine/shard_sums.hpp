// The sum of the gradients of a replica's shards, by the pairwise tree.
#pragma once

#include "compute/parameters/parameter_store.hpp"

namespace troupe {

/// A binary counter: level l holds the sum of 2^l consecutive shards, so that R replicas of S/R shards each add in the order in which one replica of S
/// would. Used by one thread at a time.
class shard_sums {
 public:
  /// Memory for `shards`, a power of two: one buffer a level, and one for the shard at hand; a single shard is its own tree. resource_exhausted.
  expected<void> allocate(const parameter_layout& layout, int32_t shards);

  void begin() noexcept { filled_ = 0; }
  /// Where the gradient of the next shard is written.
  std::byte* at() const noexcept { return buffers_.back().get(); }
  /// It is written there.
  void add(const parameter_layout& layout);
  /// Once all shards are added. It shares the memory that the next ones are written to.
  tensor total(const parameter_layout& layout) const { return {dtype::uint8, {layout.gradient_bytes()}, buffers_[root_]}; }

 private:
  std::vector<std::shared_ptr<std::byte>> buffers_;
  size_t root_ = 0;
  uint32_t filled_ = 0;
};

}  // namespace troupe
