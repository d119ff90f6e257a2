// m = β1·m + (1-β1)·g;  u = max(β2·u, |g|);  v -= rate/(1-β1^t) · m / (u + ε). Kingma & Ba 2015, algorithm 2.
#include "compute/optimizers/packet_update.hpp"

namespace troupe {

template <class T>
void update(const adamax& o, const update_terms& terms, const update_range<T>& x) {
  const double b1 = o.beta1;
  const auto minus_rate = packet_of<T>(-terms.rate / (1 - elementary::power(b1, terms.t))),
             epsilon = packet_of<T>(o.epsilon);
  const auto beta1 = packet_of<T>(b1), rest1 = packet_of<T>(1 - b1), beta2 = packet_of<T>(o.beta2);
  update_packets<2>(terms, x, [=](auto g, auto v, auto* s) {
    s[0] = simd::pmadd(beta1, s[0], simd::pmul(rest1, g));
    s[1] = simd::pmax(simd::pmul(beta2, s[1]), simd::pabs(g));
    return simd::padd(v, simd::pdiv(simd::pmul(minus_rate, s[0]), simd::padd(s[1], epsilon)));
  });
}

template void update(const adamax&, const update_terms&, const update_range<float>&);
template void update(const adamax&, const update_terms&, const update_range<double>&);

}  // namespace troupe
