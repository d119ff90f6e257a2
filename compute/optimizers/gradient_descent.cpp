// v -= rate · g
#include "compute/optimizers/packet_update.hpp"

namespace troupe {

template <class T>
void update(const gradient_descent&, const update_terms& terms, const update_range<T>& x) {
  const auto minus_rate = packet_of<T>(-terms.rate);
  update_packets<0>(terms, x, [=](auto g, auto v, auto*) { return simd::pmadd(minus_rate, g, v); });
}

template void update(const gradient_descent&, const update_terms&, const update_range<float>&);
template void update(const gradient_descent&, const update_terms&, const update_range<double>&);

}  // namespace troupe
