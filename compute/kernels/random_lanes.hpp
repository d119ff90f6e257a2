// Eight keyed random numbers at once, bit for bit those of random.hpp.
#pragma once

#include "compute/kernels/random.hpp"

#ifdef __AVX2__
#  include <immintrin.h>
#endif

namespace troupe::random {

/// The random blocks of eight counters: word w of block i is words[w][i].
struct eight_blocks {
  alignas(32) uint32_t words[4][8];
};

#ifdef __AVX2__

/// The random blocks of the counters {first, ...}, {first + 1, ...} to {first + 7, ...}; the first word must not
/// overflow.
inline eight_blocks philox8(const block& first, uint64_t key) {
  const auto broadcast = [](uint32_t x) { return _mm256_set1_epi32(static_cast<int>(x)); };
  // Multiplies the even lanes and the odd lanes to 64 bits each, and interleaves the halves of the products again.
  struct halves {
    __m256i low, high;
  };
  const auto product = [](__m256i a, __m256i m) -> halves {
    const __m256i even = _mm256_mul_epu32(a, m), odd = _mm256_mul_epu32(_mm256_srli_epi64(a, 32), m);
    return {_mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xAA),
            _mm256_blend_epi32(_mm256_srli_epi64(even, 32), odd, 0xAA)};
  };
  const __m256i m0 = broadcast(0xD2511F53), m1 = broadcast(0xCD9E8D57), w0 = broadcast(0x9E3779B9),
                w1 = broadcast(0xBB67AE85);
  __m256i k0 = broadcast(static_cast<uint32_t>(key)), k1 = broadcast(static_cast<uint32_t>(key >> 32));
  __m256i c0 = _mm256_add_epi32(broadcast(first[0]), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7)),
          c1 = broadcast(first[1]), c2 = broadcast(first[2]), c3 = broadcast(first[3]);
  for (int round = 0; round < 10; ++round) {
    const halves p0 = product(c0, m0), p1 = product(c2, m1);
    c0 = _mm256_xor_si256(_mm256_xor_si256(p1.high, c1), k0);
    c1 = p1.low;
    c2 = _mm256_xor_si256(_mm256_xor_si256(p0.high, c3), k1);
    c3 = p0.low;
    k0 = _mm256_add_epi32(k0, w0);
    k1 = _mm256_add_epi32(k1, w1);
  }
  eight_blocks made;
  auto* to = reinterpret_cast<__m256i*>(made.words);
  _mm256_store_si256(to, c0);
  _mm256_store_si256(to + 1, c1);
  _mm256_store_si256(to + 2, c2);
  _mm256_store_si256(to + 3, c3);
  return made;
}

/// `unit_double` of words 0 and 1 of each block.
inline void unit_doubles(const eight_blocks& b, double (&to)[8]) {
  // Converts 53-bit integers in two halves. For an integer x < 2^32 the lowest bits of the double 2^52 + x are x, and
  // likewise for 2^84 + x·2^32. Both differences and their sum are exact.
  const __m256d at_low = _mm256_set1_pd(0x1p52), at_high = _mm256_set1_pd(0x1p84), scale = _mm256_set1_pd(0x1p-53);
  for (int half = 0; half < 8; half += 4) {
    const auto wide = [half](const uint32_t(&from)[8]) {
      return _mm256_cvtepu32_epi64(_mm_load_si128(reinterpret_cast<const __m128i*>(from + half)));
    };
    const __m256i bits = _mm256_srli_epi64(_mm256_or_si256(_mm256_slli_epi64(wide(b.words[0]), 32), wide(b.words[1])),
                                           11);
    const __m256i low = _mm256_blend_epi32(bits, _mm256_castpd_si256(at_low), 0xAA);
    const __m256i high = _mm256_or_si256(_mm256_srli_epi64(bits, 32), _mm256_castpd_si256(at_high));
    const __m256d sum = _mm256_add_pd(_mm256_sub_pd(_mm256_castsi256_pd(high), at_high),
                                      _mm256_sub_pd(_mm256_castsi256_pd(low), at_low));
    _mm256_storeu_pd(to + half, _mm256_mul_pd(sum, scale));
  }
}

#else  // The same, where no instruction has eight lanes.

inline eight_blocks philox8(const block& first, uint64_t key) {
  eight_blocks made;
  for (uint32_t i = 0; i < 8; ++i) {
    const block one = philox({first[0] + i, first[1], first[2], first[3]}, key);
    for (size_t w = 0; w < 4; ++w)
      made.words[w][i] = one[w];
  }
  return made;
}

inline void unit_doubles(const eight_blocks& b, double (&to)[8]) {
  for (size_t i = 0; i < 8; ++i)
    to[i] = unit_double(b.words[0][i], b.words[1][i]);
}

#endif

}  // namespace troupe::random
