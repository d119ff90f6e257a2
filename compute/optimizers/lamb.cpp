// Adam's m and s;  r = m/(1-β1^t) / (sqrt(s/(1-β2^t)) + ε) + weight_decay · v;  v -= rate · |v|/|r| · r. You et al.
// 2020, algorithm 2. The ratio needs all of r, which the first sweep over memory computes and the second recomputes.
#include "compute/optimizers/norms.hpp"
#include "compute/optimizers/packet_update.hpp"

namespace troupe {
namespace {

template <class T>
struct lamb_direction {
  simd::packet<T> correction1, correction2, epsilon, decay;

  lamb_direction(const lamb& o, const update_terms& terms) {
    correction1 = packet_of<T>(1 / (1 - elementary::power(o.beta1, terms.t)));
    correction2 = packet_of<T>(1 / (1 - elementary::power(o.beta2, terms.t)));
    epsilon = packet_of<T>(o.epsilon);
    decay = packet_of<T>(terms.weight_decay);
  }
  simd::packet<T> operator()(const simd::packet<T>& m, const simd::packet<T>& s, const simd::packet<T>& v) const {
    const auto adapted = simd::pdiv(simd::pmul(correction1, m),
                                    simd::padd(simd::psqrt(simd::pmul(correction2, s)), epsilon));
    return simd::pmadd(decay, v, adapted);
  }
};

}  // namespace

template <class T>
void update(const lamb& o, const update_terms& terms, const update_range<T>& x) {
  const double b1 = o.beta1, b2 = o.beta2;
  const auto beta1 = packet_of<T>(b1), rest1 = packet_of<T>(1 - b1), beta2 = packet_of<T>(b2),
             rest2 = packet_of<T>(1 - b2);
  const auto most = packet_of<T>(terms.clip_value), least = packet_of<T>(-terms.clip_value),
             scale = packet_of<T>(terms.gradient_scale);
  const lamb_direction<T> direction{o, terms};
  double squares = 0;
  T r[norm_chunk];
  for (int64_t first = 0; first < x.n; first += norm_chunk) {
    const int64_t n = std::min(norm_chunk, x.n - first);
    for (int64_t i = first; i < first + n; i += simd::width<T>) {
      const auto g = simd::pmul(scale, simd::pmax(least, simd::pmin(most, simd::load(x.g + i))));
      const auto m = simd::pmadd(beta1, simd::load(x.slot[0] + i), simd::pmul(rest1, g));
      const auto s = simd::pmadd(beta2, simd::load(x.slot[1] + i), simd::pmul(simd::pmul(rest2, g), g));
      simd::store(x.slot_to[0] + i, m);
      simd::store(x.slot_to[1] + i, s);
      simd::store(r + (i - first), direction(m, s, simd::load(x.v + i)));
    }
    squares += sum_of_squares(r, n);
  }
  const double size = std::sqrt(sum_of_squares(x.v, x.n)), length = std::sqrt(squares);
  const double ratio = size > 0 && length > 0 ? size / length : 1;
  const auto minus_rate = packet_of<T>(-terms.rate * ratio), rest = packet_of<T>(1 - terms.average_decay);
  for (int64_t i = 0; i < x.n; i += simd::width<T>) {
    const auto v = simd::load(x.v + i);
    const auto to = simd::pmadd(minus_rate, direction(simd::load(x.slot_to[0] + i), simd::load(x.slot_to[1] + i), v),
                                v);
    simd::store(x.v_to + i, to);
    if (x.average) {
      const auto average = simd::load(x.average + i);
      simd::store(x.average_to + i, simd::pmadd(rest, simd::psub(to, average), average));
    }
  }
}

template void update(const lamb&, const update_terms&, const update_range<float>&);
template void update(const lamb&, const update_terms&, const update_range<double>&);

}  // namespace troupe
