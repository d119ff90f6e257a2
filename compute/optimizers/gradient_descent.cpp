// v -= rate · g
#include "compute/kernels/simd.hpp"
#include "compute/optimizers/update.hpp"

namespace troupe {

template <class T>
void update(const gradient_descent& o, int64_t, const update_range<T>& x) {
  // Ranges begin and end at multiples of 64 bytes: whole packets.
  const auto minus_rate = simd::set(-static_cast<T>(o.rate));
  for (int64_t i = 0; i < x.n; i += simd::width<T>)
    simd::store(x.v_to + i, simd::pmadd(minus_rate, simd::load(x.g + i), simd::load(x.v + i)));
}

template void update(const gradient_descent&, int64_t, const update_range<float>&);
template void update(const gradient_descent&, int64_t, const update_range<double>&);

}  // namespace troupe
