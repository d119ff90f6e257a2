#include "pipeline/input/permutation.hpp"

#include <algorithm>
#include <bit>
#include <cassert>

namespace troupe::input {

namespace {

uint64_t scrambled(uint64_t half, uint64_t key) noexcept {
  uint64_t x = (half ^ key) * 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  return x >> 32;  // A half has at most 32 bits, and a product's upper ones are the well mixed ones.
}

}  // namespace

permutation::permutation(uint64_t key, int64_t size) noexcept : size_(static_cast<uint64_t>(size)) {
  assert(size >= 1);
  // Smaller networks have too few round functions: with 4 bits, the orders of five examples came unequally often.
  const int bits = std::max(7, static_cast<int>(std::bit_width(size_ - 1)));
  low_bits_ = bits - bits / 2;
  low_mask_ = (uint64_t{1} << low_bits_) - 1;
  high_mask_ = (uint64_t{1} << (bits / 2)) - 1;
  for (auto& k : keys_)
    k = key = mixed(key);
}

int64_t permutation::operator()(int64_t i) const noexcept {
  assert(i >= 0 && static_cast<uint64_t>(i) < size_);
  auto x = static_cast<uint64_t>(i);
  do {
    uint64_t low = x & low_mask_;
    uint64_t high = x >> low_bits_;
    for (size_t r = 0; r < rounds; r += 2) {
      high ^= scrambled(low, keys_[r]) & high_mask_;
      low ^= scrambled(high, keys_[r + 1]) & low_mask_;
    }
    x = high << low_bits_ | low;
  } while (x >= size_);
  return static_cast<int64_t>(x);
}

}  // namespace troupe::input
