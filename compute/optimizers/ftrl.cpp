// With p = learning_rate_power:  h = g + 2·l2_shrinkage·v;  z += h - ((s + g²)^-p - s^-p)/rate · v;  s += g²;
// v = (sign(z)·l1 - z) / (s^-p/rate + 2·l2) where |z| > l1, else 0. McMahan et al. 2013, algorithm 1.
#include "compute/optimizers/packet_update.hpp"

namespace troupe {
namespace {

/// `power` maps s to s^-p.
template <class T, class Power>
void update_with(const ftrl& o, const update_terms& terms, const update_range<T>& x, Power power) {
  const auto rate = packet_of<T>(terms.rate), most = packet_of<T>(o.l1), least = packet_of<T>(-o.l1);
  const auto twice_l2 = packet_of<T>(2 * static_cast<double>(o.l2)),
             twice_shrinkage = packet_of<T>(2 * static_cast<double>(o.l2_shrinkage));
  update_packets<2>(terms, x, [=](auto g, auto v, auto* s) {
    const auto before = power(s[0]);
    s[0] = simd::pmadd(g, g, s[0]);
    const auto after = power(s[0]);
    const auto h = simd::pmadd(twice_shrinkage, v, g);
    s[1] = simd::padd(s[1], simd::psub(h, simd::pmul(simd::pdiv(simd::psub(after, before), rate), v)));
    // z clamped to [-l1, l1], minus z: 0 where |z| <= l1.
    const auto excess = simd::psub(simd::pmax(least, simd::pmin(most, s[1])), s[1]);
    return simd::pdiv(excess, simd::padd(simd::pdiv(after, rate), twice_l2));
  });
}

}  // namespace

template <class T>
void update(const ftrl& o, const update_terms& terms, const update_range<T>& x) {
  if (o.learning_rate_power == -0.5f)
    return update_with(o, terms, x, [](const auto& s) { return simd::psqrt(s); });
  const auto minus_power = packet_of<T>(-o.learning_rate_power);
  update_with(o, terms, x, [minus_power](const auto& s) { return simd::pow(s, minus_power); });
}

template void update(const ftrl&, const update_terms&, const update_range<float>&);
template void update(const ftrl&, const update_terms&, const update_range<double>&);

}  // namespace troupe
