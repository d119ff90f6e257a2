// m = β1·m + (1-β1)·g;  s = β2·s + (1-β2)·g²;  v -= rate·sqrt(1-β2^t)/(1-β1^t) · m / (sqrt(s) + ε).
// Kingma & Ba 2015, section 2, the efficient form ("ε hat").
#include "compute/kernels/simd.hpp"
#include "compute/optimizers/update.hpp"

#include <cmath>

namespace troupe {

template <class T>
void update(const adam& o, int64_t t, const update_range<T>& x) {
  const double b1 = o.beta1, b2 = o.beta2;
  const auto steps = static_cast<double>(t);
  const double rate = static_cast<double>(o.rate) * std::sqrt(1 - std::pow(b2, steps)) / (1 - std::pow(b1, steps));
  const auto minus_rate = simd::set(-static_cast<T>(rate));
  const auto beta1 = simd::set(static_cast<T>(b1)), rest1 = simd::set(static_cast<T>(1 - b1));
  const auto beta2 = simd::set(static_cast<T>(b2)), rest2 = simd::set(static_cast<T>(1 - b2));
  const auto epsilon = simd::set(static_cast<T>(o.epsilon));
  for (int64_t i = 0; i < x.n; i += simd::width<T>) {
    const auto g = simd::load(x.g + i);
    const auto m = simd::pmadd(beta1, simd::load(x.slot[0] + i), simd::pmul(rest1, g));
    const auto s = simd::pmadd(beta2, simd::load(x.slot[1] + i), simd::pmul(simd::pmul(rest2, g), g));
    const auto step = simd::pdiv(simd::pmul(minus_rate, m), simd::padd(simd::psqrt(s), epsilon));
    simd::store(x.slot_to[0] + i, m);
    simd::store(x.slot_to[1] + i, s);
    simd::store(x.v_to + i, simd::padd(simd::load(x.v + i), step));
  }
}

template void update(const adam&, int64_t, const update_range<float>&);
template void update(const adam&, int64_t, const update_range<double>&);

}  // namespace troupe
