// Adam's m and s;  ŝ = max(ŝ, s);  v -= rate·sqrt(1-β2^t)/(1-β1^t) · m / (sqrt(ŝ) + ε). Reddi et al. 2018, algorithm 2.
#include "compute/optimizers/packet_update.hpp"

namespace troupe {

template <class T>
void update(const amsgrad& o, const update_terms& terms, const update_range<T>& x) {
  const double b1 = o.beta1, b2 = o.beta2;
  const auto minus_rate = packet_of<T>(-corrected_rate(o, terms)), epsilon = packet_of<T>(o.epsilon);
  const auto beta1 = packet_of<T>(b1), rest1 = packet_of<T>(1 - b1), beta2 = packet_of<T>(b2),
             rest2 = packet_of<T>(1 - b2);
  update_packets<3>(terms, x, [=](auto g, auto v, auto* s) {
    s[0] = simd::pmadd(beta1, s[0], simd::pmul(rest1, g));
    s[1] = simd::pmadd(beta2, s[1], simd::pmul(simd::pmul(rest2, g), g));
    s[2] = simd::pmax(s[2], s[1]);
    return simd::padd(v, simd::pdiv(simd::pmul(minus_rate, s[0]), simd::padd(simd::psqrt(s[2]), epsilon)));
  });
}

template void update(const amsgrad&, const update_terms&, const update_range<float>&);
template void update(const amsgrad&, const update_terms&, const update_range<double>&);

}  // namespace troupe
