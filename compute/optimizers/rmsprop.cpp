// s = decay·s + (1-decay)·g²;  m = momentum·m + rate · g / sqrt(s + ε);  v -= m; if centered, s - a² replaces s under
// the root, a = decay·a + (1-decay)·g. Tieleman & Hinton 2012; Graves 2013, eq. 38 to 41.
#include "compute/optimizers/packet_update.hpp"

namespace troupe {

template <class T>
void update(const rmsprop& o, const update_terms& terms, const update_range<T>& x) {
  const auto rate = packet_of<T>(terms.rate), inertia = packet_of<T>(o.momentum), epsilon = packet_of<T>(o.epsilon);
  const auto decay = packet_of<T>(o.decay), rest = packet_of<T>(1 - static_cast<double>(o.decay)),
             zero = packet_of<T>(0);
  const auto moved = [=](auto g, auto spread, auto& m) {
    m = simd::pmadd(inertia, m, simd::pdiv(simd::pmul(rate, g), simd::psqrt(simd::padd(spread, epsilon))));
    return m;
  };
  const auto square = [=](auto g, auto s) { return simd::pmadd(decay, s, simd::pmul(simd::pmul(rest, g), g)); };
  if (!o.centered)
    return update_packets<2>(terms, x, [=](auto g, auto v, auto* s) {
      s[0] = square(g, s[0]);
      return simd::psub(v, moved(g, s[0], s[1]));
    });
  update_packets<3>(terms, x, [=](auto g, auto v, auto* s) {
    s[0] = square(g, s[0]);
    s[1] = simd::pmadd(decay, s[1], simd::pmul(rest, g));
    // The variance is kept at 0 or above: for a constant gradient, rounding may leave it below.
    return simd::psub(v, moved(g, simd::pmax(zero, simd::psub(s[0], simd::pmul(s[1], s[1]))), s[2]));
  });
}

template void update(const rmsprop&, const update_terms&, const update_range<float>&);
template void update(const rmsprop&, const update_terms&, const update_range<double>&);

}  // namespace troupe
