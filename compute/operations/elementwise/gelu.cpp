// gelu_tanh and its gradient, each in one sweep over memory. As expressions of small operations they would keep four
// values of x's size for the gradient, and make twenty-five sweeps.
#include "compute/kernels/elementary.hpp"
#include "compute/kernels/simd.hpp"
#include "compute/operations/elementwise/elementwise.hpp"

#include <cmath>
#include <numbers>

namespace troupe {
namespace {

// y = x/2 · (1 + t), t = tanh(u), u = a·(x + b·x³)
constexpr double a = std::numbers::sqrt2 * std::numbers::inv_sqrtpi;  // √(2/π)
constexpr double b = 0.044715;

inline simd::packet<float> tanh_of(const simd::packet<float>& x) { return simd::tanh(x); }
inline double tanh_of(double x) { return elementary::tanh(x); }

template <class P>
P number(double x) {
  return Eigen::internal::pset1<P>(static_cast<typename Eigen::internal::unpacket_traits<P>::type>(x));
}

/// Returns t = tanh(u) (see above), given x and x².
template <class P>
P bend(const P& x, const P& squared) {
  using namespace simd;
  return tanh_of(pmul(number<P>(a), pmul(x, pmadd(number<P>(b), squared, number<P>(1)))));
}

// Where |x| > `far`, t is ±1 in both dtypes. x is bounded there, because y(-∞) would be ∞ - ∞, and the slope 0·∞.
constexpr double far = 1e4;

/// The lesser or the greater of x and the bound; NaN where x is NaN.
template <class P>
P at_most(const P& x, double most) {
  return simd::pmin(x, number<P>(most));
}
template <class P>
P at_least(const P& x, double least) {
  return simd::pmax(x, number<P>(least));
}

template <class P>
P gelu_of(const P& x) {
  using namespace simd;
  const P half = pmul(number<P>(0.5), at_least(x, -far));
  return pmadd(half, bend(x, pmul(x, x)), half);
}

/// y' = (1 + t)/2 + x/2 · (1 - t²) · a·(1 + 3b·x²)
template <class P>
P slope_of(const P& any) {
  using namespace simd;
  const P x = at_least(at_most(any, far), -far), squared = pmul(x, x), t = bend(x, squared), half = number<P>(0.5);
  const P steepness = pmul(number<P>(a), pmadd(number<P>(3 * b), squared, number<P>(1)));
  return pmadd(pmul(pmul(half, x), psub(number<P>(1), pmul(t, t))), steepness, pmadd(half, t, half));
}

void gelu_kernel(const kernel_call& c, run_state& s) {
  simd::map(c.to<const float>(s, 0), c.to<float>(s, 1), c.n[0], gelu_of<simd::packet<float>>);
}
void gelu_kernel64(const kernel_call& c, run_state& s) {
  std::transform(c.to<const double>(s, 0), c.to<const double>(s, 0) + c.n[0], c.to<double>(s, 1), gelu_of<double>);
}

/// The gradient kernel. dy and x have the output's shape and are read along a walk.
void gradient_kernel(const kernel_call& c, run_state& s) {
  for_each_inner_loop(*c.strides, [&](const inner_loop& r) {
    const float *dy = c.to<const float>(s, 0) + r.at[0], *x = c.to<const float>(s, 1) + r.at[1];
    float* dx = c.to<float>(s, 2) + r.out;
    int64_t i = 0;
    for (; i + simd::width<float> <= r.n; i += simd::width<float>)
      simd::store(dx + i, simd::pmul(simd::load(dy + i), slope_of(simd::load(x + i))));
    if (const int64_t n = r.n - i; n > 0)
      simd::store_part(dx + i, simd::pmul(simd::load_part(dy + i, n), slope_of(simd::load_part(x + i, n))), n);
  });
}
void gradient_kernel64(const kernel_call& c, run_state& s) {
  for_each_inner_loop(*c.strides, [&](const inner_loop& r) {
    const double *dy = c.to<const double>(s, 0) + r.at[0], *x = c.to<const double>(s, 1) + r.at[1];
    double* dx = c.to<double>(s, 2) + r.out;
    for (int64_t i = 0; i < r.n; ++i)
      dx[i] = dy[i] * slope_of(x[i]);
  });
}

void lower_gelu(lowering& l) {
  lower_elements(l);
  l.run(l.in(0).type, gelu_kernel, gelu_kernel64);
}

void lower_gradient(lowering& l) {
  lower_operands(l);
  l.run(l.in(0).type, gradient_kernel, gradient_kernel64);
}

using in = const gradient_input&;
using list = std::vector<symbol>;

/// The gradient of the slope: (1 - t²) · (u' + x/2 · (u'' - 2t·u'²)), where u' = a·(1 + 3b·x²) and u'' = 6ab·x.
symbol curvature(symbol any, std::source_location at) {
  const symbol x = clip(any, -far, far, at), squared = square(x, at), one = fill(*x.owner(), 1, x.type(), {}, at);
  const symbol t = tanh(scale(mul(x, add(scale(squared, b, at), one, at), at), a, at), at);
  const symbol first = scale(add(scale(squared, 3 * b, at), one, at), a, at), second = scale(x, 6 * a * b, at);
  const symbol bent = mul(scale(x, 0.5, at), sub(second, scale(mul(t, square(first, at), at), 2, at), at), at);
  return mul(sub(one, square(t, at), at), add(first, bent, at), at);
}

}  // namespace

namespace ops {
const operation gelu_tanh{.name = "gelu_tanh",
                          .gradient = [](in i) { return list{troupe::gelu_tanh_gradient(i.dy, i.x[0], i.at)}; },
                          .lower = lower_gelu,
                          .in_place = true,
                          .elementwise = true};
const operation gelu_tanh_gradient{
    .name = "gelu_tanh_gradient",
    .gradient =
        [](in i) {
          return list{troupe::gelu_tanh_gradient(i.dy, i.x[1], i.at),
                      troupe::mul(troupe::mul(i.dy, i.x[0], i.at), curvature(i.x[1], i.at), i.at)};
        },
    .lower = lower_gradient,
    .in_place = true,
    .elementwise = true};
}  // namespace ops

symbol gelu_tanh(symbol x, std::source_location at) { return unary(ops::gelu_tanh, domain::floating, x, at); }
symbol gelu_tanh_gradient(symbol dy, symbol x, std::source_location at) {
  return binary(ops::gelu_tanh_gradient, domain::floating, dy, x, at);
}

}  // namespace troupe
