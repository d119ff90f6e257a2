// s = ρ·s + (1-ρ)·g²;  d = g · sqrt(u + ε) / sqrt(s + ε);  u = ρ·u + (1-ρ)·d²;  v -= rate · d. Zeiler 2012, algorithm
// 1.
#include "compute/optimizers/packet_update.hpp"

namespace troupe {

template <class T>
void update(const adadelta& o, const update_terms& terms, const update_range<T>& x) {
  const auto minus_rate = packet_of<T>(-terms.rate), epsilon = packet_of<T>(o.epsilon);
  const auto rho = packet_of<T>(o.rho), rest = packet_of<T>(1 - static_cast<double>(o.rho));
  const auto mean_square = [=](auto before, auto y) {
    return simd::pmadd(rho, before, simd::pmul(simd::pmul(rest, y), y));
  };
  update_packets<2>(terms, x, [=](auto g, auto v, auto* s) {
    s[0] = mean_square(s[0], g);
    const auto d = simd::pmul(
        g, simd::pdiv(simd::psqrt(simd::padd(s[1], epsilon)), simd::psqrt(simd::padd(s[0], epsilon))));
    s[1] = mean_square(s[1], d);
    return simd::pmadd(minus_rate, d, v);
  });
}

template void update(const adadelta&, const update_terms&, const update_range<float>&);
template void update(const adadelta&, const update_terms&, const update_range<double>&);

}  // namespace troupe
