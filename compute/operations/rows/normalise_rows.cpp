// Normalises the rows of x along the last axis by mean and standard deviation (Ba et al. 2016), and computes the
// gradient, each in one sweep over memory: a row stays in the cache.
//
//   y = h = (x - μ)·r,  r = 1/√(σ² + ε)        dx = r·(dy - mean(dy) - h·mean(dy·h))
#include "compute/kernels/simd.hpp"
#include "compute/operations/lowering.hpp"

#include <cmath>

namespace troupe {
namespace {

template <class T, class F>
void fill_row(T* y, int64_t n, F f) {
  int64_t j = 0;
  for (; j + simd::width<T> <= n; j += simd::width<T>)
    simd::store(y + j, f(j, simd::width<T>));
  if (j < n)
    simd::store_part(y + j, f(j, n - j), n - j);
}

/// The statistics of one row.
template <class T>
struct moments {
  simd::packet<T> mean, reciprocal;

  moments(const T* x, int64_t n, double epsilon) {
    const double count = static_cast<double>(n);
    mean = simd::set(
        static_cast<T>(simd::sum<T>(n, [&](int64_t j, int64_t c) { return simd::load_some(x + j, c); }) / count));
    const double variance = simd::sum<T>(n,
                                         [&](int64_t j, int64_t c) {
                                           const auto centred = simd::psub(simd::load_some(x + j, c), mean);
                                           return simd::pmul(centred, centred);
                                         })
                            / count;
    reciprocal = simd::set(static_cast<T>(1 / std::sqrt(variance + epsilon)));
  }
  simd::packet<T> normal(const T* x, int64_t count) const {
    return simd::pmul(simd::psub(simd::load_some(x, count), mean), reciprocal);
  }
};

template <class T>
void normalise_kernel(const kernel_call& c, run_state& s) {
  const int64_t n = c.n[1];
  for (int64_t i = 0; i < c.n[0]; ++i) {
    const T* x = c.to<const T>(s, 0) + i * n;
    const moments<T> m{x, n, c.number};
    fill_row(c.to<T>(s, 1) + i * n, n, [&](int64_t j, int64_t count) { return m.normal(x + j, count); });
  }
}

template <class T>
void gradient_kernel(const kernel_call& c, run_state& s) {
  const int64_t n = c.n[1];
  for (int64_t i = 0; i < c.n[0]; ++i) {
    const T *dy = c.to<const T>(s, 0) + i * n, *x = c.to<const T>(s, 1) + i * n;
    const moments<T> m{x, n, c.number};
    const auto mean = [n](double sum) { return simd::set(static_cast<T>(sum / static_cast<double>(n))); };
    const auto plain = mean(simd::sum<T>(n, [&](int64_t j, int64_t k) { return simd::load_some(dy + j, k); }));
    const auto along = mean(simd::sum<T>(
        n, [&](int64_t j, int64_t k) { return simd::pmul(simd::load_some(dy + j, k), m.normal(x + j, k)); }));
    fill_row(c.to<T>(s, 2) + i * n, n, [&](int64_t j, int64_t k) {
      const auto rest = simd::psub(simd::psub(simd::load_some(dy + j, k), plain),
                                   simd::pmul(m.normal(x + j, k), along));
      return simd::pmul(m.reciprocal, rest);
    });
  }
}

void lower_rows(lowering& l) {
  const shape& dims = l.out().dims;
  int at = 0;
  for (; at < static_cast<int>(l.call.in.size()); ++at)
    l.kernel.at[at] = l.in_at(at);
  l.kernel.at[at] = l.out_at();
  l.kernel.n[1] = dims[dims.rank() - 1];
  l.kernel.n[0] = dims.elements() / std::max<int64_t>(1, l.kernel.n[1]);
  l.kernel.number = l.call.attr.number;
  const int64_t row = l.kernel.n[1] * size_of(l.out().type);
  l.division = {.items = l.kernel.n[0], .step = {row, row, row}};
}

using in = const gradient_input&;
using list = std::vector<symbol>;

/// With f = r·P(dy), where P is its own adjoint, and u the gradient of f: u·∂f/∂x is -h·r·mean(u·f) -
/// r·(r·P(u·mean(dy·h) + dy·mean(u·h))).
list gradient_of_gradient(in i) {
  const symbol dy = i.x[0], x = i.x[1], u = i.dy;
  const double epsilon = i.n.attr.number;
  const auto mean = [&](symbol v) { return reduce_mean(v, {{-1}, true}, i.at); };
  const auto product = [&](symbol v, symbol w) { return mul(v, w, i.at); };
  const symbol h = normalise_rows(x, epsilon, i.at);
  const symbol variance = mean(square(sub(x, mean(x), i.at), i.at));
  const symbol r = rsqrt(add(variance, fill(i.g, epsilon, x.type(), {}, i.at), i.at), i.at);
  const symbol turned = add(product(u, mean(product(dy, h))), product(dy, mean(product(u, h))), i.at);
  const symbol by_scale = product(h, product(r, mean(product(u, i.y)))),
               by_turn = product(r, normalise_rows_gradient(turned, x, epsilon, i.at));
  return {normalise_rows_gradient(u, x, epsilon, i.at), neg(add(by_scale, by_turn, i.at), i.at)};
}

}  // namespace

namespace ops {
const operation normalise_rows{
    .name = "normalise_rows",
    .gradient = [](in i) { return list{troupe::normalise_rows_gradient(i.dy, i.x[0], i.n.attr.number, i.at)}; },
    .lower =
        [](lowering& l) {
          lower_rows(l);
          l.run(l.in(0).type, normalise_kernel<float>, normalise_kernel<double>);
        },
    .in_place = true};
const operation normalise_rows_gradient{.name = "normalise_rows_gradient",
                                        .gradient = gradient_of_gradient,
                                        .lower =
                                            [](lowering& l) {
                                              lower_rows(l);
                                              l.run(l.in(0).type, gradient_kernel<float>, gradient_kernel<double>);
                                            },
                                        .in_place = true};
}  // namespace ops

symbol normalise_rows(symbol x, double epsilon, std::source_location at) {
  if (!x.valid())
    return x;
  attributes attr;
  attr.number = epsilon;
  return append(*x.owner(), ops::normalise_rows, {x}, x.type(), symbol_shape{x.dims()}, at, std::move(attr));
}

symbol normalise_rows_gradient(symbol dy, symbol x, double epsilon, std::source_location at) {
  if (!dy.valid() || !x.valid())
    return x.valid() ? dy : x;
  attributes attr;
  attr.number = epsilon;
  return append(*x.owner(), ops::normalise_rows_gradient, {dy, x}, x.type(), symbol_shape{x.dims()}, at,
                std::move(attr));
}

}  // namespace troupe
