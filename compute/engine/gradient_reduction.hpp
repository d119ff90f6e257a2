// Sums the replicas' gradients, by a fixed tree and in memory that is allocated once.
#pragma once

#include "compute/parameters/parameter_store.hpp"

namespace troupe {

/// Adds by the pairwise tree ((0+1)+(2+3))+…, so that the bits depend on the number of replicas only. Used by one
/// thread at a time.
class gradient_reduction {
 public:
  /// Allocates all memory that `sum` will need: a buffer of one gradient for each level of the tree. resource_exhausted
  /// if there is not enough.
  static expected<gradient_reduction> plan(std::shared_ptr<const parameter_layout> layout, int32_t replicas);

  const parameter_layout& layout() const noexcept { return *layout_; }
  int32_t replicas() const noexcept { return replicas_; }
  /// The sum of `parts`: one gradient of `layout().gradient_bytes()` bytes per replica, in replica order. Their number
  /// is asserted. Allocates nothing. The result shares memory that the next call overwrites.
  tensor sum(std::span<const tensor> parts);

 private:
  gradient_reduction(std::shared_ptr<const parameter_layout> layout, int32_t replicas)
    : layout_(std::move(layout)), replicas_(replicas) {}
  const std::byte* add(std::span<const tensor> parts, size_t level);

  std::shared_ptr<const parameter_layout> layout_;
  int32_t replicas_;
  std::vector<std::shared_ptr<std::byte>> levels_;  ///< The partial sum of each level, the root first.
};

}  // namespace troupe
