// Adam's update of a range, compiled for x86-64-v4 and called only where the processor has it. It calls nothing of the
// standard library, for the reason given in compute/kernels/gemm_tile.hpp.
//
// The loop is bound by the divider, which the division and the exact root of each element occupy for 22 cycles per
// vector. Therefore three of five roots are computed by multiplications, rounded to the same bits, while the divider
// works on the others. With more of them, the multiplications would be the bound.
#include "compute/optimizers/adam_avx512.hpp"

#include "compute/kernels/prefetch.hpp"

#include <immintrin.h>

namespace troupe {
namespace {

using vector = __m512;
constexpr int64_t width = 16;

/// The correctly rounded square root: an estimate, a step of third order, one of second order by Goldschmidt, and a
/// last one whose remainder is exact (Markstein 1990). The estimate of 1/sqrt(x) is an integer operation (0x5f37… -
/// bits / 2), good to 5 bits. With e = 1 - x·y², y·(1 + e/2 + 3/8·e²) is good to 13 bits, and the second-order step to
/// all bits but the last. Zeros, values too small for an exact remainder, infinities and NaN go to the divider.
vector root_by_products(vector x) {
  constexpr int smallest = 0x12800000, largest = 0x7b800000;  // The bits of 2^-90 and of 2^120.
  const __m512i bits = _mm512_castps_si512(x);
  const auto unusual = _mm512_cmpgt_epu32_mask(_mm512_sub_epi32(bits, _mm512_set1_epi32(smallest)),
                                               _mm512_set1_epi32(largest - smallest));
  if (__builtin_expect(unusual != 0, 0))
    return _mm512_sqrt_ps(x);
  const vector half = _mm512_set1_ps(0.5f);
  const vector y = _mm512_castsi512_ps(_mm512_sub_epi32(_mm512_set1_epi32(0x5f376908), _mm512_srli_epi32(bits, 1)));
  vector root = _mm512_mul_ps(x, y), half_inverse = _mm512_mul_ps(half, y);
  const vector e = _mm512_fnmadd_ps(root, y, _mm512_set1_ps(1));
  const vector step = _mm512_mul_ps(e, _mm512_fmadd_ps(_mm512_set1_ps(0.375f), e, half));
  root = _mm512_fmadd_ps(root, step, root);
  half_inverse = _mm512_fmadd_ps(half_inverse, step, half_inverse);
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
    : x(range), beta1(_mm512_set1_ps(f.beta1)), rest1(_mm512_set1_ps(f.rest1)), beta2(_mm512_set1_ps(f.beta2)),
      rest2(_mm512_set1_ps(f.rest2)), minus_rate(_mm512_set1_ps(f.minus_rate)), epsilon(_mm512_set1_ps(f.epsilon)),
      most(_mm512_set1_ps(f.clip_value)), least(_mm512_set1_ps(-f.clip_value)), scale(_mm512_set1_ps(f.gradient_scale)),
      keep(_mm512_set1_ps(f.keep)), average_rest(_mm512_set1_ps(f.average_rest)) {}

  /// The same operations as in adam.cpp and packet_update.hpp, in the same order, on one packet.
  template <vector root_of(vector)>
  __attribute__((always_inline)) void vector_at(int64_t i) const {
    constexpr int64_t ahead = 2048 / sizeof(float);
    vector g = _mm512_loadu_ps(x.g + i), v = _mm512_loadu_ps(x.v + i), average;
    prefetch_to_write(x.v_to + i + ahead);
    prefetch_to_write(x.slot_to[0] + i + ahead);
    prefetch_to_write(x.slot_to[1] + i + ahead);
    __builtin_prefetch(x.g + i + ahead);
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
    for (; i + 5 * width <= x.n; i += 5 * width) {
      vector_at<root_by_divider>(i);
      vector_at<root_by_products>(i + width);
      vector_at<root_by_divider>(i + 2 * width);
      vector_at<root_by_products>(i + 3 * width);
      vector_at<root_by_products>(i + 4 * width);
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
