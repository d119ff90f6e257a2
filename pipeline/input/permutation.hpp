// Keyed permutations of [0, size) that are computed, not stored: what a shuffle is made of.
//
// An alternating Feistel network over the next power of two above `size`; a result outside the range is sent through
// again until it falls inside (cycle walking: Black & Rogaway 2002), on average less than twice from 64 elements on.
#pragma once

#include <array>
#include <cstdint>

namespace troupe::input {

/// SplitMix64's finaliser (Steele et al. 2014): a bijection in which every input bit moves every output bit.
constexpr uint64_t mixed(uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class permutation {
 public:
  /// `size` >= 1.
  permutation(uint64_t key, int64_t size) noexcept;
  /// Where `i`, in [0, size), goes.
  int64_t operator()(int64_t i) const noexcept;

 private:
  static constexpr int rounds = 8;

  uint64_t size_;
  int low_bits_;
  uint64_t low_mask_;
  uint64_t high_mask_;
  std::array<uint64_t, rounds> keys_;
};

}  // namespace troupe::input
