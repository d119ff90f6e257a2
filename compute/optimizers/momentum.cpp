// m = decay · m + g;  v -= rate · m  (nesterov: v -= rate · (g + decay · m)). Polyak 1964; Sutskever et al. 2013.
#include "compute/optimizers/packet_update.hpp"

namespace troupe {

template <class T>
void update(const momentum& o, const update_terms& terms, const update_range<T>& x) {
  const auto minus_rate = packet_of<T>(-terms.rate), decay = packet_of<T>(o.decay);
  const bool nesterov = o.nesterov;
  update_packets<1>(terms, x, [=](auto g, auto v, auto* s) {
    s[0] = simd::pmadd(decay, s[0], g);
    return simd::pmadd(minus_rate, nesterov ? simd::pmadd(decay, s[0], g) : s[0], v);
  });
}

template void update(const momentum&, const update_terms&, const update_range<float>&);
template void update(const momentum&, const update_terms&, const update_range<double>&);

}  // namespace troupe
