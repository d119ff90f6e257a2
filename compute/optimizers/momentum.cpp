// m = decay · m + g;  v -= rate · m  (nesterov: v -= rate · (g + decay · m)). Sutskever et al. 2013.
#include "compute/kernels/simd.hpp"
#include "compute/optimizers/update.hpp"

namespace troupe {

template <class T>
void update(const momentum& o, int64_t, const update_range<T>& x) {
  const auto minus_rate = simd::set(-static_cast<T>(o.rate));
  const auto decay = simd::set(static_cast<T>(o.decay));
  const bool nesterov = o.nesterov;
  for (int64_t i = 0; i < x.n; i += simd::width<T>) {
    const auto g = simd::load(x.g + i);
    const auto m = simd::pmadd(decay, simd::load(x.slot[0] + i), g);
    const auto direction = nesterov ? simd::pmadd(decay, m, g) : m;
    simd::store(x.slot_to[0] + i, m);
    simd::store(x.v_to + i, simd::pmadd(minus_rate, direction, simd::load(x.v + i)));
  }
}

template void update(const momentum&, int64_t, const update_range<float>&);
template void update(const momentum&, int64_t, const update_range<double>&);

}  // namespace troupe
