// The sum of the replicas' gradients, by a fixed tree and in memory that is made once.
#pragma once

#include "compute/parameters/parameter_store.hpp"

namespace troupe {

/// Adds by the pairwise tree ((0+1)+(2+3))+…, so that the bits depend on the number of replicas alone. One thread at a time.
class gradient_reduction {
 public:
  /// Makes all memory that `sum` will need: a gradient for each level of the tree. resource_exhausted when it is not to be had.
  static expected<gradient_reduction> plan(std::shared_ptr<const parameter_layout> layout, int32_t replicas);

  const parameter_layout& layout() const noexcept { return *layout_; }
  int32_t replicas() const noexcept { return replicas_; }
  /// One gradient of `layout().gradient_bytes()` a replica, in their order (asserted). Allocates nothing; the result shares memory
  /// that the next call overwrites.
  tensor sum(std::span<const tensor> parts);

 private:
  gradient_reduction(std::shared_ptr<const parameter_layout> layout, int32_t replicas) : layout_(std::move(layout)), replicas_(replicas) {}
  const std::byte* add(std::span<const tensor> parts, size_t level);

  std::shared_ptr<const parameter_layout> layout_;
  int32_t replicas_;
  std::vector<std::shared_ptr<std::byte>> levels_;  ///< What is being added up at each level, the root first.
};

}  // namespace troupe
