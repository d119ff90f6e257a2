// m = β1·m + (1-β1)·g;  s = β2·s + (1-β2)·g²;  v -= rate·sqrt(1-β2^t)/(1-β1^t) · m / (sqrt(s) + ε).
// Kingma & Ba 2015, section 2, the efficient form ("ε hat"). AdamW also decays the variable first, which the caller has
// put into the terms: Loshchilov & Hutter 2019, algorithm 2.
#include "compute/kernels/vectors.hpp"
#include "compute/optimizers/adam_avx512.hpp"
#include "compute/optimizers/packet_update.hpp"

namespace troupe {

namespace {

#if defined(__AVX2__) && defined(__x86_64__)
/// Runs the 512-bit loop, which exists for float only; returns whether it did.
template <class T>
bool update_wide(const adam& o, const update_terms& terms, const update_range<T>& x) {
  if constexpr (std::is_same_v<T, float>)
    if (uses_avx512()) {
      const auto as_float = [](double number) { return static_cast<float>(number); };
      adam_avx512::run({.beta1 = as_float(o.beta1),
                        .rest1 = as_float(1 - o.beta1),
                        .beta2 = as_float(o.beta2),
                        .rest2 = as_float(1 - o.beta2),
                        .minus_rate = as_float(-corrected_rate(o, terms)),
                        .epsilon = as_float(o.epsilon),
                        .surrounded = is_surrounded(terms, x),
                        .clip_value = as_float(terms.clip_value),
                        .gradient_scale = as_float(terms.gradient_scale),
                        .keep = as_float(terms.keep),
                        .average_rest = as_float(1 - terms.average_decay)},
                       x);
      return true;
    }
  return false;
}
#else
template <class T>
bool update_wide(const adam&, const update_terms&, const update_range<T>&) {
  return false;
}
#endif

}  // namespace

template <class T>
void update(const adam& o, const update_terms& terms, const update_range<T>& x) {
  if (update_wide(o, terms, x))
    return;
  const double b1 = o.beta1, b2 = o.beta2;
  const auto minus_rate = packet_of<T>(-corrected_rate(o, terms)), epsilon = packet_of<T>(o.epsilon);
  const auto beta1 = packet_of<T>(b1), rest1 = packet_of<T>(1 - b1), beta2 = packet_of<T>(b2),
             rest2 = packet_of<T>(1 - b2);
  update_packets<2>(terms, x, [=](auto g, auto v, auto* s) {
    s[0] = simd::pmadd(beta1, s[0], simd::pmul(rest1, g));
    s[1] = simd::pmadd(beta2, s[1], simd::pmul(simd::pmul(rest2, g), g));
    return simd::padd(v, simd::pdiv(simd::pmul(minus_rate, s[0]), simd::padd(simd::psqrt(s[1]), epsilon)));
  });
}

template <class T>
void update(const adamw& o, const update_terms& terms, const update_range<T>& x) {
  update(adam{o.rate, o.beta1, o.beta2, o.epsilon}, terms, x);
}

template void update(const adam&, const update_terms&, const update_range<float>&);
template void update(const adam&, const update_terms&, const update_range<double>&);
template void update(const adamw&, const update_terms&, const update_range<float>&);
template void update(const adamw&, const update_terms&, const update_range<double>&);

}  // namespace troupe
