// h = g + 2·l2_shrinkage·v;  z += h - (sqrt(s + g²) - sqrt(s))/rate · v;  s += g²;
// v = (sign(z)·l1 - z) / (sqrt(s)/rate + 2·l2) where |z| > l1, else 0. McMahan et al. 2013, algorithm 1.
#include "compute/optimizers/packet_update.hpp"

namespace troupe {

template <class T>
void update(const ftrl& o, const update_terms& terms, const update_range<T>& x) {
  const auto rate = packet_of<T>(terms.rate), most = packet_of<T>(o.l1), least = packet_of<T>(-o.l1);
  const auto twice_l2 = packet_of<T>(2 * static_cast<double>(o.l2)), twice_shrinkage = packet_of<T>(2 * static_cast<double>(o.l2_shrinkage));
  update_packets<2>(terms, x, [=](auto g, auto v, auto* s) {
    const auto before = simd::psqrt(s[0]);
    s[0] = simd::pmadd(g, g, s[0]);
    const auto after = simd::psqrt(s[0]);
    const auto h = simd::pmadd(twice_shrinkage, v, g);
    s[1] = simd::padd(s[1], simd::psub(h, simd::pmul(simd::pdiv(simd::psub(after, before), rate), v)));
    // z within [-l1, l1] less z: 0 where |z| <= l1.
    const auto excess = simd::psub(simd::pmax(least, simd::pmin(most, s[1])), s[1]);
    return simd::pdiv(excess, simd::padd(simd::pdiv(after, rate), twice_l2));
  });
}

template void update(const ftrl&, const update_terms&, const update_range<float>&);
template void update(const ftrl&, const update_terms&, const update_range<double>&);

}  // namespace troupe
