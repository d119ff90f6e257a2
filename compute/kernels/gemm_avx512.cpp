// The matrix product with vectors of 512 bits. Compiled for x86-64-v4; called only where the processor has it.
#include "compute/kernels/convolution_loops.hpp"
#include "compute/kernels/gemm_loops.hpp"

#include <immintrin.h>

namespace troupe {
namespace {

// A multiply-add with a memory operand saves the instruction that broadcasts a row's number, but loads the number once
// for each vector. If another thread shares the core's front end, it is best to do this for eight of twelve rows; for
// all twelve, loads become the bottleneck.

struct floats {
  using number = float;
  using vector = __m512;
  static constexpr int64_t width = 16, tile_rows = 12, rows_from_memory = 8, row_vectors = 16, columns_at_once = 4;

  static __mmask16 mask(int64_t n) { return static_cast<__mmask16>(n >= 16 ? 0xffff : (1u << n) - 1); }
  static vector load(const float* p) { return _mm512_loadu_ps(p); }
  static vector load_part(const float* p, __mmask16 m) { return _mm512_maskz_loadu_ps(m, p); }
  static void store(float* p, vector x) { _mm512_storeu_ps(p, x); }
  static void store_part(float* p, vector x, __mmask16 m) { _mm512_mask_storeu_ps(p, m, x); }
  static vector set(float x) { return _mm512_set1_ps(x); }
  static vector fma(vector a, vector b, vector c) { return _mm512_fmadd_ps(a, b, c); }
  static vector fma(const float* a, vector b, vector c) {
    asm("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(c) : "v"(b), "m"(*a));
    return c;
  }
  // If one operand is NaN, the result is the second: NaN stays.
  static vector relu(vector x) { return _mm512_max_ps(_mm512_setzero_ps(), x); }
  static vector where_positive(vector mask, vector x) {
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(mask, _mm512_setzero_ps(), _CMP_GT_OQ), x);
  }
  /// Writes four columns of sixteen rows.
  static void columns_of(const float* const* row, int64_t p, float* to, int64_t stride) {
    __m512 r[4], s[4];
    for (int i = 0; i < 4; ++i) {
      r[i] = _mm512_castps128_ps512(_mm_loadu_ps(row[i] + p));
      r[i] = _mm512_insertf32x4(r[i], _mm_loadu_ps(row[i + 4] + p), 1);
      r[i] = _mm512_insertf32x4(r[i], _mm_loadu_ps(row[i + 8] + p), 2);
      r[i] = _mm512_insertf32x4(r[i], _mm_loadu_ps(row[i + 12] + p), 3);
    }
    for (int i = 0; i < 4; i += 2) {
      s[i] = _mm512_unpacklo_ps(r[i], r[i + 1]);
      s[i + 1] = _mm512_unpackhi_ps(r[i], r[i + 1]);
    }
    store(to, _mm512_shuffle_ps(s[0], s[2], 0x44));
    store(to + stride, _mm512_shuffle_ps(s[0], s[2], 0xee));
    store(to + 2 * stride, _mm512_shuffle_ps(s[1], s[3], 0x44));
    store(to + 3 * stride, _mm512_shuffle_ps(s[1], s[3], 0xee));
  }
};

struct doubles {
  using number = double;
  using vector = __m512d;
  static constexpr int64_t width = 8, tile_rows = 12, rows_from_memory = 8, row_vectors = 16, columns_at_once = 2;

  static __mmask8 mask(int64_t n) { return static_cast<__mmask8>(n >= 8 ? 0xff : (1u << n) - 1); }
  static vector load(const double* p) { return _mm512_loadu_pd(p); }
  static vector load_part(const double* p, __mmask8 m) { return _mm512_maskz_loadu_pd(m, p); }
  static void store(double* p, vector x) { _mm512_storeu_pd(p, x); }
  static void store_part(double* p, vector x, __mmask8 m) { _mm512_mask_storeu_pd(p, m, x); }
  static vector set(double x) { return _mm512_set1_pd(x); }
  static vector fma(vector a, vector b, vector c) { return _mm512_fmadd_pd(a, b, c); }
  static vector fma(const double* a, vector b, vector c) {
    asm("vfmadd231pd %2%{1to8%}, %1, %0" : "+v"(c) : "v"(b), "m"(*a));
    return c;
  }
  static vector relu(vector x) { return _mm512_max_pd(_mm512_setzero_pd(), x); }
  static vector where_positive(vector mask, vector x) {
    return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(mask, _mm512_setzero_pd(), _CMP_GT_OQ), x);
  }
  /// Writes two columns of eight rows.
  static void columns_of(const double* const* row, int64_t p, double* to, int64_t stride) {
    __m512d r[2];
    for (int i = 0; i < 2; ++i) {
      r[i] = _mm512_castpd128_pd512(_mm_loadu_pd(row[i] + p));
      r[i] = _mm512_insertf64x2(r[i], _mm_loadu_pd(row[i + 2] + p), 1);
      r[i] = _mm512_insertf64x2(r[i], _mm_loadu_pd(row[i + 4] + p), 2);
      r[i] = _mm512_insertf64x2(r[i], _mm_loadu_pd(row[i + 6] + p), 3);
    }
    store(to, _mm512_unpacklo_pd(r[0], r[1]));
    store(to + stride, _mm512_unpackhi_pd(r[0], r[1]));
  }
};

}  // namespace

void gemm_avx512::run(const gemm_shape& s, const gemm_operands<float>& x, std::byte* workspace) {
  product<floats>::run(s, x, workspace);
}
void gemm_avx512::run(const gemm_shape& s, const gemm_operands<double>& x, std::byte* workspace) {
  product<doubles>::run(s, x, workspace);
}
void gemm_avx512::run(const convolution& g, const float* x, const float* kernel, const float* bias, float* y,
                      std::byte* workspace) {
  image_convolution<floats>(g, x, kernel, bias, y, workspace).run();
}
void gemm_avx512::run(const convolution& g, const double* x, const double* kernel, const double* bias, double* y,
                      std::byte* workspace) {
  image_convolution<doubles>(g, x, kernel, bias, y, workspace).run();
}
void gemm_avx512::run_kernel_gradient(const convolution& g, const float* x, const float* dy, float* dk,
                                      std::byte* workspace) {
  kernel_gradient<floats>(g, x, dy, dk, workspace).run();
}
void gemm_avx512::run_kernel_gradient(const convolution& g, const double* x, const double* dy, double* dk,
                                      std::byte* workspace) {
  kernel_gradient<doubles>(g, x, dy, dk, workspace).run();
}

}  // namespace troupe
