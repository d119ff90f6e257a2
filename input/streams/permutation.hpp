// Keyed permutations of [0, size), computed and not stored. They are the basis of shuffles.
//
// The method is an alternating Feistel network over the next power of two above `size`. A result outside the range goes
// through the network again until it is inside (cycle walking: Black & Rogaway 2002): on average less than twice, for
// sizes from 64 on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace troupe::input {

/// SplitMix64's finaliser (Steele et al. 2014): a bijection in which every input bit affects every output bit.
constexpr uint64_t mixed(uint64_t x) noexcept {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

class permutation {
 public:
  /// `size` must be at least 1.
  permutation(uint64_t key, int64_t size) noexcept;
  /// Computes the images of first, first + 1, ..., which must be in [0, size). Many are computed at once, since the
  /// network runs in vector registers.
  void apply(int64_t first, std::span<int64_t> out) const noexcept;
  int64_t operator()(int64_t i) const noexcept {
    int64_t out = 0;
    apply(i, {&out, 1});
    return out;
  }

 private:
  static constexpr std::size_t rounds = 8;

  uint64_t size_;
  int low_bits_;
  uint32_t low_mask_;
  uint32_t high_mask_;
  std::array<uint32_t, rounds> keys_;
};

}  // namespace troupe::input
