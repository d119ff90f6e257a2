// u = v - rate·g;  v = sign(u) · max(0, |u| - rate·l1) / (1 + rate·l2). Duchi & Singer 2009, section 2.
#include "compute/optimizers/packet_update.hpp"

namespace troupe {

template <class T>
void update(const proximal_gradient_descent& o, const update_terms& terms, const update_range<T>& x) {
  const double threshold = terms.rate * static_cast<double>(o.l1);
  const auto minus_rate = packet_of<T>(-terms.rate), most = packet_of<T>(threshold), least = packet_of<T>(-threshold);
  const auto shrunk = packet_of<T>(1 + terms.rate * static_cast<double>(o.l2));
  update_packets<0>(terms, x, [=](auto g, auto v, auto*) {
    const auto u = simd::pmadd(minus_rate, g, v);
    // u minus u clamped to [-rate·l1, rate·l1]: 0 where |u| is not larger.
    return simd::pdiv(simd::psub(u, simd::pmax(least, simd::pmin(most, u))), shrunk);
  });
}

template void update(const proximal_gradient_descent&, const update_terms&, const update_range<float>&);
template void update(const proximal_gradient_descent&, const update_terms&, const update_range<double>&);

}  // namespace troupe
