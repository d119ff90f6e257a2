#include "compute/engine/gradient_reduction.hpp"

#include "compute/program/program.hpp"
#include "words/zeroed_buffer.hpp"

#include <bit>

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

expected<gradient_reduction> gradient_reduction::plan(std::shared_ptr<const parameter_layout> layout,
                                                      int32_t replicas) {
  gradient_reduction made{std::move(layout), replicas};
  const int64_t bytes = made.layout().gradient_bytes();
  for (size_t level = 0; level < levels_of(static_cast<size_t>(replicas)); ++level) {
    made.levels_.push_back(allocate_zeroed_buffer(bytes));
    if (!made.levels_.back())
      return fail(errc::resource_exhausted, "no memory to add up the gradients of " + std::to_string(replicas)
                                                + " replicas, of " + std::to_string(bytes) + " bytes each");
  }
  return made;
}

tensor gradient_reduction::sum(std::span<const tensor> parts) {
  assert(parts.size() == static_cast<size_t>(replicas_));
  if (parts.size() == 1)
    return parts.front();
  add(parts, 0);
  return {dtype::uint8, {layout().gradient_bytes()}, levels_.front()};
}

const std::byte* gradient_reduction::add(std::span<const tensor> parts, size_t level) {
  if (parts.size() == 1)
    return parts.front().data();
  const auto* left = add(parts.first(left_of(parts.size())), level);
  const auto* right = add(parts.subspan(left_of(parts.size())), level + 1);
  auto* into = levels_[level].get();
  if (left == into)
    add_gradient(layout(), into, right);
  else
    add_gradients(layout(), into, left, right);
  return into;
}

}  // namespace troupe
