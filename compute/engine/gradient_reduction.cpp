#include "compute/engine/gradient_reduction.hpp"

#include "compute/program/program.hpp"
#include "words/zeroed_buffer.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace troupe {

namespace {

/// The number of leaves in the left half of a tree of `parts` leaves.
size_t left_of(size_t parts) { return std::bit_ceil(parts) / 2; }

/// The number of levels that need a buffer: a level holds the sum of its left half while deeper levels sum the right
/// half.
size_t levels_of(size_t parts) {
  return parts < 2 ? 0 : std::max(levels_of(left_of(parts)), 1 + levels_of(parts - left_of(parts)));
}

}  // namespace

expected<gradient_reduction::buffers> gradient_reduction::allocate(int64_t bytes, int32_t replicas) {
  buffers all;
  for (size_t level = 0; level < levels_of(static_cast<size_t>(replicas)); ++level) {
    all.push_back(allocate_zeroed_buffer(bytes));
    if (!all.back())
      return fail(errc::resource_exhausted, "no memory to add up the gradients of " + std::to_string(replicas)
                                                + " replicas, of " + std::to_string(bytes) + " bytes each");
  }
  return all;
}

expected<gradient_reduction> gradient_reduction::plan(std::shared_ptr<const parameter_layout> layout,
                                                      int32_t replicas) {
  auto levels = allocate(layout->gradient_bytes(), replicas);
  if (!levels)
    return fail(levels.error());
  buffers bits;
  for (const auto& level : *levels)
    bits.emplace_back(level, level.get() + layout->flat_bytes());
  const int64_t whole = layout->flat_bytes();
  return gradient_reduction{std::move(layout), replicas, {0, whole}, std::move(*levels), std::move(bits)};
}

expected<std::vector<gradient_reduction>> gradient_reduction::plan_slices(
    const std::shared_ptr<const parameter_layout>& layout, int32_t replicas) {
  const auto levels = allocate(layout->gradient_bytes(), replicas);
  if (!levels)
    return fail(levels.error());
  std::vector<gradient_reduction> all;
  for (int32_t r = 0; r < replicas; ++r) {
    auto bits = allocate(std::max<int64_t>(layout->gradient_bytes() - layout->flat_bytes(), 1), replicas);
    if (!bits)
      return fail(bits.error());
    all.push_back({layout, replicas, layout->slice(r, replicas), *levels, std::move(*bits)});
    all.back().writes_bits_ = r == 0;
  }
  return all;
}

tensor gradient_reduction::sum(std::span<const tensor> parts) {
  assert(parts.size() == static_cast<size_t>(replicas_));
  if (parts.size() == 1)
    return parts.front();
  add(parts);
  return total();
}

void gradient_reduction::add(std::span<const tensor> parts) {
  assert(parts.size() == static_cast<size_t>(replicas_) && parts.size() > 1);
  add_level(parts, 0);
  auto* const root = levels_.front().get();
  if (writes_bits_)
    std::memcpy(root + layout().flat_bytes(), bits_.front().get(),
                static_cast<size_t>(layout().gradient_bytes() - layout().flat_bytes()));
}

gradient_view gradient_reduction::add_level(std::span<const tensor> parts, size_t level) {
  if (parts.size() == 1)
    return whole_gradient(layout(), parts.front().data());
  const auto left = add_level(parts.first(left_of(parts.size())), level);
  const auto right = add_level(parts.subspan(left_of(parts.size())), level + 1);
  auto *const into = levels_[level].get(), *const bits = bits_[level].get();
  if (left.values == into)
    add_gradient(layout(), slice_, into, bits, right);
  else
    add_gradients(layout(), slice_, into, bits, left, right);
  return {into, bits};
}

}  // namespace troupe
