// The matrix product with the vectors of the build's own CPU level: AVX2 and FMA, or in a baseline build plain loops
// that the compiler may vectorise.
#ifdef __AVX2__
#  include <immintrin.h>
#endif

#include "compute/kernels/convolution_loops.hpp"
#include "compute/kernels/gemm_loops.hpp"

namespace troupe {
namespace {

#ifdef __AVX2__

alignas(64) constexpr int32_t ones_then_zeros[16] = {-1, -1, -1, -1, -1, -1, -1, -1, 0, 0, 0, 0, 0, 0, 0, 0};
alignas(64) constexpr int64_t ones_then_zeros64[8] = {-1, -1, -1, -1, 0, 0, 0, 0};

struct floats {
  using number = float;
  using vector = __m256;
  static constexpr int64_t width = 8, tile_rows = 6, rows_from_memory = 0, row_vectors = 8, columns_at_once = 4;

  static __m256i mask(int64_t n) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ones_then_zeros + 8 - (n < 8 ? n : 8)));
  }
  static vector load(const float* p) { return _mm256_loadu_ps(p); }
  static vector load_part(const float* p, __m256i m) { return _mm256_maskload_ps(p, m); }
  static void store(float* p, vector x) { _mm256_storeu_ps(p, x); }
  static void store_part(float* p, vector x, __m256i m) { _mm256_maskstore_ps(p, m, x); }
  static vector set(float x) { return _mm256_set1_ps(x); }
  static vector fma(vector a, vector b, vector c) { return _mm256_fmadd_ps(a, b, c); }
  static vector fma(const float* a, vector b, vector c) { return fma(set(*a), b, c); }
  // If one operand is NaN, the result is the second: NaN stays.
  static vector relu(vector x) { return _mm256_max_ps(_mm256_setzero_ps(), x); }
  static vector where_positive(vector mask, vector x) {
    return _mm256_and_ps(x, _mm256_cmp_ps(mask, _mm256_setzero_ps(), _CMP_GT_OQ));
  }
  /// Writes four columns of eight rows.
  static void columns_of(const float* const* row, int64_t p, float* to, int64_t stride) {
    __m256 r[4], s[4];
    for (int i = 0; i < 4; ++i)
      r[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(row[i] + p)), _mm_loadu_ps(row[i + 4] + p), 1);
    for (int i = 0; i < 4; i += 2) {
      s[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
      s[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
    }
    store(to, _mm256_shuffle_ps(s[0], s[2], 0x44));
    store(to + stride, _mm256_shuffle_ps(s[0], s[2], 0xee));
    store(to + 2 * stride, _mm256_shuffle_ps(s[1], s[3], 0x44));
    store(to + 3 * stride, _mm256_shuffle_ps(s[1], s[3], 0xee));
  }
};

struct doubles {
  using number = double;
  using vector = __m256d;
  static constexpr int64_t width = 4, tile_rows = 6, rows_from_memory = 0, row_vectors = 8, columns_at_once = 2;

  static __m256i mask(int64_t n) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(ones_then_zeros64 + 4 - (n < 4 ? n : 4)));
  }
  static vector load(const double* p) { return _mm256_loadu_pd(p); }
  static vector load_part(const double* p, __m256i m) { return _mm256_maskload_pd(p, m); }
  static void store(double* p, vector x) { _mm256_storeu_pd(p, x); }
  static void store_part(double* p, vector x, __m256i m) { _mm256_maskstore_pd(p, m, x); }
  static vector set(double x) { return _mm256_set1_pd(x); }
  static vector fma(vector a, vector b, vector c) { return _mm256_fmadd_pd(a, b, c); }
  static vector fma(const double* a, vector b, vector c) { return fma(set(*a), b, c); }
  static vector relu(vector x) { return _mm256_max_pd(_mm256_setzero_pd(), x); }
  static vector where_positive(vector mask, vector x) {
    return _mm256_and_pd(x, _mm256_cmp_pd(mask, _mm256_setzero_pd(), _CMP_GT_OQ));
  }
  /// Writes two columns of four rows.
  static void columns_of(const double* const* row, int64_t p, double* to, int64_t stride) {
    __m256d r[2];
    for (int i = 0; i < 2; ++i)
      r[i] = _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(row[i] + p)), _mm_loadu_pd(row[i + 2] + p), 1);
    store(to, _mm256_unpacklo_pd(r[0], r[1]));
    store(to + stride, _mm256_unpackhi_pd(r[0], r[1]));
  }
};

#else

template <class T, int64_t W>
struct plain {
  using number = T;
  struct vector {
    T x[W];
  };
  static constexpr int64_t width = W, tile_rows = 4, rows_from_memory = 0, row_vectors = 4, columns_at_once = 1;

  template <class F>
  static vector each(F f) {
    vector v;
    for (int64_t i = 0; i < W; ++i)
      v.x[i] = f(i);
    return v;
  }
  static int64_t mask(int64_t n) { return n; }
  static vector load(const T* p) {
    return each([p](int64_t i) { return p[i]; });
  }
  static vector load_part(const T* p, int64_t n) {
    return each([=](int64_t i) { return i < n ? p[i] : T{0}; });
  }
  static void store(T* p, const vector& v) {
    for (int64_t i = 0; i < W; ++i)
      p[i] = v.x[i];
  }
  static void store_part(T* p, const vector& v, int64_t n) {
    for (int64_t i = 0; i < W; ++i)  // Up to n, GCC 12 would warn of elements behind the vector.
      if (i < n)
        p[i] = v.x[i];
  }
  static vector set(T x) {
    return each([x](int64_t) { return x; });
  }
  static vector fma(const vector& a, const vector& b, const vector& c) {
    return each([&](int64_t i) { return a.x[i] * b.x[i] + c.x[i]; });
  }
  static vector fma(const T* a, const vector& b, const vector& c) { return fma(set(*a), b, c); }
  static vector relu(const vector& a) {
    return each([&](int64_t i) { return a.x[i] < T{0} ? T{0} : a.x[i]; });
  }
  static vector where_positive(const vector& m, const vector& a) {
    return each([&](int64_t i) { return m.x[i] > T{0} ? a.x[i] : T{0}; });
  }
  static void columns_of(const T* const* row, int64_t p, T* to, int64_t) {
    for (int64_t i = 0; i < W; ++i)
      to[i] = row[i][p];
  }
};
using floats = plain<float, 4>;
using doubles = plain<double, 2>;

#endif

}  // namespace

void gemm_base::run(const gemm_shape& s, const gemm_operands<float>& x, std::byte* workspace) {
  product<floats>::run(s, x, workspace);
}
void gemm_base::run(const gemm_shape& s, const gemm_operands<double>& x, std::byte* workspace) {
  product<doubles>::run(s, x, workspace);
}
void gemm_base::run(const convolution& g, const float* x, const float* kernel, const float* bias, float* y,
                    std::byte* workspace) {
  image_convolution<floats>(g, x, kernel, bias, y, workspace).run();
}
void gemm_base::run(const convolution& g, const double* x, const double* kernel, const double* bias, double* y,
                    std::byte* workspace) {
  image_convolution<doubles>(g, x, kernel, bias, y, workspace).run();
}
void gemm_base::run_kernel_gradient(const convolution& g, const float* x, const float* dy, float* dk,
                                    std::byte* workspace) {
  kernel_gradient<floats>(g, x, dy, dk, workspace).run();
}
void gemm_base::run_kernel_gradient(const convolution& g, const double* x, const double* dy, double* dk,
                                    std::byte* workspace) {
  kernel_gradient<doubles>(g, x, dy, dk, workspace).run();
}

}  // namespace troupe
