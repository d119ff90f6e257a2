// Adam's pass over a range, compiled for x86-64-v4: called only where the processor has it. It calls nothing of the
// standard library, for the reason given in compute/kernels/gemm_tile.hpp.
//
// The pass is bound by the divider, which the division and the exact root of each element occupy for 22 cycles per
// vector. Therefore half of the roots are computed by multiplications, rounded to the same bits, while the divider works
// on the others. They come in pairs, whose two independent chains of multiplications overlap.
#include <immintrin.h>

#include "compute/kernels/prefetch.hpp"
#include "compute/optimizers/adam_avx512.hpp"

namespace troupe {
namespace {

using vector = __m512;
constexpr int64_t width = 16;

/// The correctly rounded square root, by Goldschmidt's iteration and a last step whose remainder is exact (Markstein
/// 1990). The first estimate is an integer operation (0x5f37… - bits / 2), good to 5 bits; each step doubles them.
/// Zeros, values too small for an exact remainder, infinities and NaN go to the divider.
vector root_by_products(vector x) {
  const auto usual = _mm512_cmp_ps_mask(x, _mm512_set1_ps(0x1p-90f), _CMP_GE_OQ) & _mm512_cmp_ps_mask(x, _mm512_set1_ps(0x1p120f), _CMP_LE_OQ);
  if (__builtin_expect(usual != 0xffff, 0))
    return _mm512_sqrt_ps(x);
  const vector half = _mm512_set1_ps(0.5f), half_x = _mm512_mul_ps(half, x);
  vector y = _mm512_castsi512_ps(_mm512_sub_epi32(_mm512_set1_epi32(0x5f376908), _mm512_srli_epi32(_mm512_castps_si512(x), 1)));
  for (int step = 0; step < 2; ++step)
    y = _mm512_mul_ps(y, _mm512_fnmadd_ps(_mm512_mul_ps(half_x, y), y, _mm512_set1_ps(1.5f)));
  vector root = _mm512_mul_ps(x, y), half_inverse = _mm512_mul_ps(half, y);
  const vector miss = _mm512_fnmadd_ps(half_inverse, root, half);
  root = _mm512_fmadd_ps(root, miss, root);
  half_inverse = _mm512_fmadd_ps(half_inverse, miss, half_inverse);
  return _mm512_fmadd_ps(_mm512_fnmadd_ps(root, root, x), half_inverse, root);
}

template <bool surrounded>
struct pass {
  const update_range<float> x;
  const vector beta1, rest1, beta2, rest2, minus_rate, epsilon, most, least, scale, keep, average_rest;

  pass(const adam_avx512::factors& f, const update_range<float>& range)
    : x(range), beta1(_mm512_set1_ps(f.beta1)), rest1(_mm512_set1_ps(f.rest1)), beta2(_mm512_set1_ps(f.beta2)), rest2(_mm512_set1_ps(f.rest2)),
      minus_rate(_mm512_set1_ps(f.minus_rate)), epsilon(_mm512_set1_ps(f.epsilon)), most(_mm512_set1_ps(f.clip_value)),
      least(_mm512_set1_ps(-f.clip_value)), scale(_mm512_set1_ps(f.gradient_scale)), keep(_mm512_set1_ps(f.keep)),
      average_rest(_mm512_set1_ps(f.average_rest)) {}

  /// The operations of adam.cpp and packet_update.hpp on one packet, one for one.
  template <vector root_of(vector)>
  __attribute__((always_inline)) void vector_at(int64_t i) const {
    constexpr int64_t ahead = 2048 / sizeof(float);
    vector g = _mm512_loadu_ps(x.g + i), v = _mm512_loadu_ps(x.v + i), average;
    prefetch_to_write(x.v_to + i + ahead);
    if constexpr (surrounded) {
      g = _mm512_mul_ps(scale, _mm512_max_ps(_mm512_min_ps(g, most), least));
      average = _mm512_loadu_ps((x.average ? x.average : x.v) + i);
      v = _mm512_mul_ps(keep, v);
    }
    const vector m = _mm512_fmadd_ps(beta1, _mm512_loadu_ps(x.slot[0] + i), _mm512_mul_ps(rest1, g));
    const vector s = _mm512_fmadd_ps(beta2, _mm512_loadu_ps(x.slot[1] + i), _mm512_mul_ps(_mm512_mul_ps(rest2, g), g));
    v = _mm512_add_ps(v, _mm512_div_ps(_mm512_mul_ps(minus_rate, m), _mm512_add_ps(root_of(s), epsilon)));
    _mm512_storeu_ps(x.slot_to[0] + i, m);
    _mm512_storeu_ps(x.slot_to[1] + i, s);
    _mm512_storeu_ps(x.v_to + i, v);
    if constexpr (surrounded)
      if (x.average)
        _mm512_storeu_ps(x.average_to + i, _mm512_fmadd_ps(average_rest, _mm512_sub_ps(v, average), average));
  }

  static __attribute__((always_inline)) vector root_by_divider(vector x) { return _mm512_sqrt_ps(x); }

  void run() const {
    int64_t i = 0;
    for (; i + 4 * width <= x.n; i += 4 * width) {
      vector_at<root_by_divider>(i);
      vector_at<root_by_divider>(i + width);
      vector_at<root_by_products>(i + 2 * width);
      vector_at<root_by_products>(i + 3 * width);
    }
    for (; i < x.n; i += width)
      vector_at<root_by_divider>(i);
  }
};

}  // namespace

void adam_avx512::run(const factors& f, const update_range<float>& x) {
  if (f.surrounded)
    pass<true>(f, x).run();
  else
    pass<false>(f, x).run();
}

}  // namespace troupe
