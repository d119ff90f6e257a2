// Sums the replicas' gradients, by a fixed tree and in memory that is allocated once.
#pragma once

#include "compute/parameters/flat_gradient.hpp"

namespace troupe {

/// Adds by the pairwise tree ((0+1)+(2+3))+…, so that the bits depend on the number of replicas only. Used by one
/// thread at a time.
class gradient_reduction {
 public:
  /// Allocates all memory that `sum` will need: a buffer of one gradient for each level of the tree. resource_exhausted
  /// if there is not enough.
  static expected<gradient_reduction> plan(std::shared_ptr<const parameter_layout> layout, int32_t replicas);
  /// One for each replica, which adds slice r of all parts and so writes slice r of one sum that all share: R threads
  /// add side by side. Number 0 also writes the bits of touched rows. resource_exhausted as above.
  static expected<std::vector<gradient_reduction>> plan_slices(const std::shared_ptr<const parameter_layout>& layout,
                                                               int32_t replicas);

  const parameter_layout& layout() const noexcept { return *layout_; }
  int32_t replicas() const noexcept { return replicas_; }
  /// The sum of `parts`: one gradient of `layout().gradient_bytes()` bytes per replica, in replica order. Their number
  /// is asserted. Allocates nothing. The result shares memory that the next call overwrites; of a slice, it is a sum
  /// once all others have been added.
  tensor sum(std::span<const tensor> parts);
  /// The same in two parts, for several replicas: `add` writes where `total` is, which never moves.
  void add(std::span<const tensor> parts);
  tensor total() const { return {dtype::uint8, {layout().gradient_bytes()}, levels_.front()}; }
  /// Of a slice, with all bits of touched rows: the sum of the slice alone, before the others are added.
  gradient_view view() const { return {levels_.front().get(), bits_.front().get()}; }
  /// Whether every element of the last sum of several parts is finite; of a slice, every element of the slice.
  bool is_finite() const { return troupe::is_finite(*layout_, slice_, view()); }

 private:
  using buffers = std::vector<std::shared_ptr<std::byte>>;

  gradient_reduction(std::shared_ptr<const parameter_layout> layout, int32_t replicas,
                     std::pair<int64_t, int64_t> slice, buffers levels, buffers bits)
    : layout_(std::move(layout)), replicas_(replicas), slice_(slice), levels_(std::move(levels)),
      bits_(std::move(bits)) {}
  static expected<buffers> allocate(int64_t bytes, int32_t replicas);
  gradient_view add_level(std::span<const tensor> parts, size_t level);

  std::shared_ptr<const parameter_layout> layout_;
  int32_t replicas_;
  std::pair<int64_t, int64_t> slice_;
  buffers levels_;  ///< The partial sum of each level, the root first.
  /// The bits of touched rows of each level. A slice has all of them, as threads cannot share a word.
  buffers bits_;
  bool writes_bits_ = false;  ///< The root's bits are apart from its values, and belong behind them.
};

}  // namespace troupe
