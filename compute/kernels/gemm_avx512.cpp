// The matrix product with vectors of 512 bits. Compiled for x86-64-v4; called only where the processor has it.
#include <immintrin.h>

#include "compute/kernels/gemm_loops.hpp"

namespace troupe {
namespace {

struct floats {
  using number = float;
  using vector = __m512;
  static constexpr int64_t width = 16, tile_rows = 12, square = 8;

  static __mmask16 mask(int64_t n) { return static_cast<__mmask16>(n >= 16 ? 0xffff : (1u << n) - 1); }
  static vector load(const float* p) { return _mm512_loadu_ps(p); }
  static vector load_part(const float* p, __mmask16 m) { return _mm512_maskz_loadu_ps(m, p); }
  static void store(float* p, vector x) { _mm512_storeu_ps(p, x); }
  static void store_part(float* p, vector x, __mmask16 m) { _mm512_mask_storeu_ps(p, m, x); }
  static vector set(float x) { return _mm512_set1_ps(x); }
  static vector fma(vector a, vector b, vector c) { return _mm512_fmadd_ps(a, b, c); }
  static vector relu(vector x) { return _mm512_max_ps(_mm512_setzero_ps(), x); }  // The second operand where one is NaN.
  static vector where_positive(vector mask, vector x) { return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(mask, _mm512_setzero_ps(), _CMP_GT_OQ), x); }
  static void transpose(const float* from, int64_t from_stride, float* to, int64_t to_stride) { transpose_8x8(from, from_stride, to, to_stride); }
};

struct doubles {
  using number = double;
  using vector = __m512d;
  static constexpr int64_t width = 8, tile_rows = 12, square = 4;

  static __mmask8 mask(int64_t n) { return static_cast<__mmask8>(n >= 8 ? 0xff : (1u << n) - 1); }
  static vector load(const double* p) { return _mm512_loadu_pd(p); }
  static vector load_part(const double* p, __mmask8 m) { return _mm512_maskz_loadu_pd(m, p); }
  static void store(double* p, vector x) { _mm512_storeu_pd(p, x); }
  static void store_part(double* p, vector x, __mmask8 m) { _mm512_mask_storeu_pd(p, m, x); }
  static vector set(double x) { return _mm512_set1_pd(x); }
  static vector fma(vector a, vector b, vector c) { return _mm512_fmadd_pd(a, b, c); }
  static vector relu(vector x) { return _mm512_max_pd(_mm512_setzero_pd(), x); }
  static vector where_positive(vector mask, vector x) { return _mm512_maskz_mov_pd(_mm512_cmp_pd_mask(mask, _mm512_setzero_pd(), _CMP_GT_OQ), x); }
  static void transpose(const double* from, int64_t from_stride, double* to, int64_t to_stride) { transpose_4x4(from, from_stride, to, to_stride); }
};

}  // namespace

void gemm_avx512::run(const gemm_shape& s, const gemm_operands<float>& x, std::byte* workspace) { product<floats>::run(s, x, workspace); }
void gemm_avx512::run(const gemm_shape& s, const gemm_operands<double>& x, std::byte* workspace) { product<doubles>::run(s, x, workspace); }

}  // namespace troupe
