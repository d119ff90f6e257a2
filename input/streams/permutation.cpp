#include "input/streams/permutation.hpp"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cstring>

namespace troupe::input {

namespace {

constexpr size_t lane_count = 8;
using lanes = uint32_t __attribute__((vector_size(lane_count * sizeof(uint32_t))));

/// A 32-bit hash with very little bias ("lowbias32", C. Wellons).
inline lanes scrambled(lanes x) noexcept {
  x = (x ^ (x >> 16)) * 0x7feb352du;
  x = (x ^ (x >> 15)) * 0x846ca68bu;
  return x ^ (x >> 16);
}

}  // namespace

permutation::permutation(uint64_t key, int64_t size) noexcept : size_(static_cast<uint64_t>(size)) {
  assert(size >= 1);
  // At least 7 bits: smaller networks have too few round functions. With 4 bits, the orders of five examples were not
  // equally frequent.
  const int bits = std::max(7, static_cast<int>(std::bit_width(size_ - 1)));
  low_bits_ = bits - bits / 2;
  low_mask_ = static_cast<uint32_t>((uint64_t{1} << low_bits_) - 1);
  high_mask_ = static_cast<uint32_t>((uint64_t{1} << (bits / 2)) - 1);
  for (auto& k : keys_)
    k = static_cast<uint32_t>(key = mixed(key));
}

void permutation::apply(int64_t first, std::span<int64_t> out) const noexcept {
  constexpr size_t width = 64;
  // The Feistel network computes whole registers. Lanes beyond the last value are unused.
  alignas(lanes) uint32_t low[width] = {};
  alignas(lanes) uint32_t high[width] = {};
  uint32_t slot[width];
  while (!out.empty()) {
    const size_t count = std::min(width, out.size());
    assert(first >= 0 && static_cast<uint64_t>(first) + count <= size_);
    for (size_t i = 0; i < count; ++i) {
      const auto x = static_cast<uint64_t>(first) + i;
      low[i] = static_cast<uint32_t>(x) & low_mask_;
      high[i] = static_cast<uint32_t>(x >> low_bits_);
      slot[i] = static_cast<uint32_t>(i);
    }
    for (size_t walking = count; walking > 0;) {
      for (size_t i = 0; i < walking; i += lane_count) {
        lanes l, h;
        std::memcpy(&l, low + i, sizeof l);
        std::memcpy(&h, high + i, sizeof h);
        for (size_t r = 0; r < rounds; r += 2) {
          h ^= scrambled(l ^ keys_[r]) & high_mask_;
          l ^= scrambled(h ^ keys_[r + 1]) & low_mask_;
        }
        std::memcpy(low + i, &l, sizeof l);
        std::memcpy(high + i, &h, sizeof h);
      }
      size_t outside = 0;
      for (size_t i = 0; i < walking; ++i) {
        const uint64_t x = uint64_t{high[i]} << low_bits_ | low[i];
        out[slot[i]] = static_cast<int64_t>(x);  // If it is outside the range, the next walk overwrites it.
        low[outside] = low[i];
        high[outside] = high[i];
        slot[outside] = slot[i];
        outside += x >= size_;
      }
      walking = outside;
    }
    first += static_cast<int64_t>(count);
    out = out.subspan(count);
  }
}

}  // namespace troupe::input
