#include "compute/engine/shard_sums.hpp"

#include "compute/parameters/flat_gradient.hpp"
#include "words/zeroed_buffer.hpp"

#include <bit>

namespace troupe {

expected<void> shard_sums::allocate(const parameter_layout& layout, int32_t shards) {
  root_ = static_cast<size_t>(std::bit_width(static_cast<uint32_t>(shards)) - 1);
  const size_t buffers = shards == 1 ? 1 : root_ + 2;
  for (size_t b = 0; b < buffers; ++b) {
    buffers_.push_back(allocate_zeroed_buffer(layout.gradient_bytes()));
    if (!buffers_.back())
      return fail(errc::resource_exhausted,
                  "no memory for the gradient of " + std::to_string(layout.gradient_bytes()) + " bytes");
  }
  return {};
}

void shard_sums::add(const parameter_layout& layout) {
  if (buffers_.size() == 1)
    return;
  size_t level = 0;
  for (; (filled_ >> level & 1) != 0; ++level) {
    add_gradient(layout, buffers_[level].get(), buffers_.back().get());
    std::swap(buffers_[level], buffers_.back());
  }
  std::swap(buffers_[level], buffers_.back());
  ++filled_;
}

}  // namespace troupe
