// The multiply-add peak of this core at this moment, measured on registers only, with the vectors that our kernels use
// (TROUPE_VECTORS). The loop uses only the multiply-add units, so it measures their limit on a processor of any maker.
#pragma once

#include "compute/kernels/vectors.hpp"

#include <immintrin.h>

#include <cstdint>

namespace troupe::bench {

/// Floating-point operations of one unit of work of `fma_peak`, float32.
inline double flops_of_peak_unit() { return 1000.0 * 12 * 2 * (uses_avx512() ? 16 : 8); }

namespace detail {

// Twelve independent chains hide the multiply-add latency at either vector width.
#define TROUPE_FMA_CHAINS(vector, set, fma, add)                          \
  vector x = set(0.999f), y = set(0.001f);                                \
  asm volatile("" : "+v"(x), "+v"(y));                                    \
  vector s[12];                                                           \
  for (auto& each : s) {                                                  \
    each = y;                                                             \
    asm volatile("" : "+v"(each)); /* Equal chains would become one. */   \
  }                                                                       \
  for (int64_t i = 0; i < n * 1000; ++i) {                                \
    _Pragma("GCC unroll 12") for (auto& each : s) each = fma(x, each, y); \
  }                                                                       \
  for (int i = 1; i < 12; ++i)                                            \
    s[0] = add(s[0], s[i]);                                               \
  asm volatile("" : : "v"(s[0]))

__attribute__((target("avx512f"), noinline)) inline void peak512(int64_t n) {
  TROUPE_FMA_CHAINS(__m512, _mm512_set1_ps, _mm512_fmadd_ps, _mm512_add_ps);
}
__attribute__((target("avx2,fma"), noinline)) inline void peak256(int64_t n) {
  TROUPE_FMA_CHAINS(__m256, _mm256_set1_ps, _mm256_fmadd_ps, _mm256_add_ps);
}

#undef TROUPE_FMA_CHAINS

}  // namespace detail

inline void fma_peak(int64_t n) { uses_avx512() ? detail::peak512(n) : detail::peak256(n); }

}  // namespace troupe::bench
