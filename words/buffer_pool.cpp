#include "words/buffer_pool.hpp"

#include <algorithm>
#include <bit>
#include <new>

namespace troupe {

namespace {

/// Rounds a size up to one of eight sizes between two powers of two, so that requests of slightly varying sizes, such
/// as those of blocks, share buffers.
int64_t rounded(int64_t bytes) {
  constexpr int64_t line = 64;
  bytes = std::clamp(bytes, line, INT64_MAX / 2);  // Prevents an overflow below; allocating so much fails later.
  const int64_t unit = std::max(static_cast<int64_t>(std::bit_floor(static_cast<uint64_t>(bytes))) / 8, line);
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace

/// Returned buffers, the oldest first.
struct buffer_pool::shelf {
  using buffer = std::pair<int64_t, std::shared_ptr<std::byte>>;
  std::mutex guard;
  std::vector<buffer> spare;
  size_t spare_max;

  /// Takes a spare buffer of at least `size` bytes off the shelf; a null pointer if there is none.
  buffer find(int64_t size) {
    buffer outgrown;  // Freed after the lock is released.
    std::lock_guard lock{guard};
    auto best = spare.end();
    for (auto s = spare.begin(); s != spare.end(); ++s)
      if (s->first >= size && s->first / 2 <= size && (best == spare.end() || s->first < best->first))
        best = s;
    if (best != spare.end()) {
      buffer found = std::move(*best);
      spare.erase(best);
      return found;
    }
    // No spare buffer fits, although there are many: sizes have changed, and the oldest is no longer requested.
    if (!spare.empty() && spare.size() >= spare_max / 2) {
      outgrown = std::move(spare.front());
      spare.erase(spare.begin());
    }
    return {size, nullptr};
  }
};

buffer_pool::buffer_pool(size_t spare_max) : shelf_(std::make_shared<shelf>()) {
  shelf_->spare_max = std::max<size_t>(spare_max, 1);
  shelf_->spare.reserve(shelf_->spare_max);  // Returning a buffer must not fail for lack of memory.
}

std::shared_ptr<std::byte> buffer_pool::take(int64_t bytes) {
  if (bytes < 0)
    return nullptr;
  auto [size, memory] = shelf_->find(rounded(bytes));
  if (!memory)
    memory = allocate_buffer(size);
  if (!memory)
    return nullptr;
  auto* start = memory.get();
  try {
    return {start, [memory = std::move(memory), size, home = std::weak_ptr(shelf_)](std::byte*) mutable {
              const auto pool = home.lock();
              if (!pool)
                return;
              std::lock_guard lock{pool->guard};
              if (pool->spare.size() < pool->spare_max)
                pool->spare.emplace_back(size, std::move(memory));
            }};
  } catch (const std::bad_alloc&) {
    return nullptr;
  }
}

tensor buffer_pool::copy_of(dtype type, const shape& dims, std::span<const std::byte> bytes) {
  constexpr size_t worth_keeping = 4096;
  if (bytes.size() < worth_keeping)
    return tensor::copy_of(type, dims, bytes);
  assert(static_cast<int64_t>(bytes.size()) == dims.elements() * size_of(type));
  auto buffer = take(static_cast<int64_t>(bytes.size()));
  if (!buffer)
    throw std::bad_alloc();
  if (!bytes.empty())
    std::memcpy(buffer.get(), bytes.data(), bytes.size());
  return {type, dims, std::move(buffer)};
}

}  // namespace troupe
