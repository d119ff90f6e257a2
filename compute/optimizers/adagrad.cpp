// s += g²;  v -= rate · g / sqrt(s). Duchi et al. 2011.
#include "compute/optimizers/packet_update.hpp"

namespace troupe {

template <class T>
void update(const adagrad&, const update_terms& terms, const update_range<T>& x) {
  const auto minus_rate = packet_of<T>(-terms.rate);
  update_packets<1>(terms, x, [=](auto g, auto v, auto* s) {
    s[0] = simd::pmadd(g, g, s[0]);
    return simd::padd(v, simd::pdiv(simd::pmul(minus_rate, g), simd::psqrt(s[0])));
  });
}

template void update(const adagrad&, const update_terms&, const update_range<float>&);
template void update(const adagrad&, const update_terms&, const update_range<double>&);

}  // namespace troupe
