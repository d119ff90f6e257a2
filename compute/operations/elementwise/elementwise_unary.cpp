// Element-wise operations of one operand.
#include "compute/kernels/elementary.hpp"
#include "compute/kernels/simd.hpp"
#include "compute/operations/elementwise/elementwise.hpp"

#include <cmath>
#include <numbers>
#include <unsupported/Eigen/SpecialFunctions>

namespace troupe {

symbol unary(const operation& op, domain of, symbol x, std::source_location at, attributes attr) {
  graph* g = common_graph(op.name, {x}, at);
  if (!g)
    return x;
  if (!is_in(of, x.type()))
    return refuse(*g, op.name, "no such operation on " + describe(x), at);
  return append(*g, op, {x}, x.type(), symbol_shape{x.dims()}, at, std::move(attr));
}

void lower_elements(lowering& l) {
  l.kernel.at[0] = l.in_at(0);
  l.kernel.at[1] = l.out_at();
  l.kernel.n[0] = l.out().dims.elements();
  l.division = {.items = l.kernel.n[0], .unit = elements_chunk, .step = {size_of(l.in(0).type), size_of(l.out().type)}};
}

namespace {

// Functions that the compiler vectorises. The second operand is the attribute `number`.
struct neg_of {
  template <class T>
  static T f(T x, T) {
    return modular(T{0}, x, [](auto zero, auto y) { return zero - y; });
  }
};
template <>
float neg_of::f(float x, float) {
  return -x;
}  // 0 - x would make +0, not -0, of 0.
template <>
double neg_of::f(double x, double) {
  return -x;
}
struct sqrt_of {
  template <class T>
  static T f(T x, T) {
    return std::sqrt(x);
  }
};
// Not the instruction for rsqrt, whose result differs between makers of processors.
struct rsqrt_of {
  template <class T>
  static T f(T x, T) {
    return T{1} / std::sqrt(x);
  }
};
struct square_of {
  template <class T>
  static T f(T x, T) {
    return modular(x, x, [](auto a, auto b) { return a * b; });
  }
};
struct abs_of {
  template <class T>
  static T f(T x, T) {
    return x < T{0} ? neg_of::f(x, x) : x;
  }
};
template <>
float abs_of::f(float x, float) {
  return std::abs(x);
}
template <>
double abs_of::f(double x, double) {
  return std::abs(x);
}
struct sign_of {
  template <class T>
  static T f(T x, T) {
    return x != x ? x : static_cast<T>((x > T{0}) - (x < T{0}));
  }
};
struct floor_of {
  template <class T>
  static T f(T x, T) {
    return std::floor(x);
  }
};
struct relu_of {
  template <class T>
  static T f(T x, T) {
    return x < T{0} ? T{0} : x;
  }
};  // NaN stays.
struct scale_of {
  template <class T>
  static T f(T x, T factor) {
    return x * factor;
  }
};

/// x · factor / divisor. With a factor of 1 this is the correctly rounded quotient.
template <class T>
void quotient_kernel(const kernel_call& c, run_state& s) {
  const T* x = c.to<const T>(s, 0);
  T* y = c.to<T>(s, 1);
  const T factor = static_cast<T>(c.number), divisor = static_cast<T>(c.number2);
#pragma GCC ivdep
  for (int64_t i = 0; i < c.n[0]; ++i)
    y[i] = x[i] * factor / divisor;
}

template <class Op, class T>
void unary_kernel(const kernel_call& c, run_state& s) {
  const T* x = c.to<const T>(s, 0);
  T* y = c.to<T>(s, 1);
  const int64_t n = c.n[0];
  const T number = static_cast<T>(c.number);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    y[i] = Op::f(x[i], number);
}

template <class T>
void clip_kernel(const kernel_call& c, run_state& s) {
  const T* x = c.to<const T>(s, 0);
  T* y = c.to<T>(s, 1);
  const T least = static_cast<T>(c.number), greatest = static_cast<T>(c.number2);
#pragma GCC ivdep
  for (int64_t i = 0; i < c.n[0]; ++i)
    y[i] = x[i] < least ? least : x[i] > greatest ? greatest : x[i];
}

// Functions without a vector instruction. They work on packets where there is a polynomial, else (in float64, which is
// for checking) number by number. They never call the C library's functions, whose bits are not the same everywhere.
struct exp_of {
  template <class P>
  static P f(const P& x) {
    return simd::pexp(x);
  }
};
struct log_of {
  template <class P>
  static P f(const P& x) {
    return simd::plog(x);
  }
};
// 1 / (1 + e^-x). e^-x may be infinite, which yields 0.
struct sigmoid_of {
  template <class P>
  static P f(const P& x) {
    using T = typename Eigen::internal::unpacket_traits<P>::type;
    const P one = simd::set(T{1});
    return simd::pdiv(one, simd::padd(one, simd::pexp(simd::psub(simd::set(T{0}), x))));
  }
};
struct tanh_of {
  static simd::packet<float> f(const simd::packet<float>& x) { return simd::tanh(x); }
  static double f(double x) { return elementary::tanh(x); }
};
struct expm1_of {
  static simd::packet<float> f(const simd::packet<float>& x) { return simd::expm1(x); }
  static double f(double x) { return elementary::expm1(x); }
};
struct log1p_of {
  static simd::packet<float> f(const simd::packet<float>& x) { return simd::log1p(x); }
  static double f(double x) { return elementary::log1p(x); }
};
struct erf_of {
  static simd::packet<float> f(const simd::packet<float>& x) { return Eigen::internal::generic_fast_erf_float(x); }
  static double f(double x) { return elementary::erf(x); }
};
// max(x, 0) + log(1 + e^-|x|)
struct softplus_of {
  static simd::packet<float> f(const simd::packet<float>& x) {
    using namespace Eigen::internal;
    return padd(pmax(x, simd::set(0.0f)), simd::log1p(pexp(pnegate(pabs(x)))));
  }
  static double f(double x) { return std::max(x, 0.0) + elementary::log1p(elementary::exp(-std::abs(x))); }
};

template <class Op, class T>
void packet_kernel(const kernel_call& c, run_state& s) {
  simd::map(c.to<const T>(s, 0), c.to<T>(s, 1), c.n[0], [](const simd::packet<T>& x) { return Op::f(x); });
}

template <class Op>
void each_kernel(const kernel_call& c, run_state& s) {
  const double* x = c.to<const double>(s, 0);
  double* y = c.to<double>(s, 1);
  for (int64_t i = 0; i < c.n[0]; ++i)
    y[i] = Op::f(x[i]);
}

void lower_operands_of_one(lowering& l) {
  lower_elements(l);
  l.kernel.number = l.call.attr.number;
  l.kernel.number2 = l.call.attr.number2;
}

template <class Op>
void lower_plain(lowering& l) {
  lower_operands_of_one(l);
  l.run(l.in(0).type, unary_kernel<Op, float>, unary_kernel<Op, double>);
}

template <class Op>
void lower_of_number(lowering& l) {
  lower_operands_of_one(l);
  l.run(l.in(0).type, unary_kernel<Op, float>, unary_kernel<Op, double>, unary_kernel<Op, int32_t>,
        unary_kernel<Op, int64_t>);
}

template <class Op>
void lower_packets(lowering& l) {
  lower_operands_of_one(l);
  l.run(l.in(0).type, packet_kernel<Op, float>, packet_kernel<Op, double>);
}

template <class Op>
void lower_float_packets(lowering& l) {
  lower_operands_of_one(l);
  l.run(l.in(0).type, packet_kernel<Op, float>, each_kernel<Op>);
}

void lower_scale(lowering& l) {
  if (l.call.divisor == 1)
    return lower_plain<scale_of>(l);
  lower_elements(l);
  l.kernel.number = l.call.attr.number;
  l.kernel.number2 = l.call.divisor;
  l.run(l.in(0).type, quotient_kernel<float>, quotient_kernel<double>);
}

void lower_clip(lowering& l) {
  lower_operands_of_one(l);
  l.run(l.in(0).type, clip_kernel<float>, clip_kernel<double>);
}

using in = const gradient_input&;
using list = std::vector<symbol>;

symbol one(in i) { return fill(i.g, 1, i.n.type, {}, i.at); }

list clip_gradient(in i) {
  const symbol least = fill(i.g, i.n.attr.number, i.n.type, {}, i.at),
               greatest = fill(i.g, i.n.attr.number2, i.n.type, {}, i.at);
  const symbol inside = logical_and(greater_equal(i.x[0], least, i.at), less_equal(i.x[0], greatest, i.at), i.at);
  return {select(inside, i.dy, fill(i.g, 0, i.n.type, {}, i.at), i.at)};
}

// y' = 2/√π · e^-x²
list erf_gradient(in i) {
  const symbol bell = exp(neg(square(i.x[0], i.at), i.at), i.at);
  return {mul(i.dy, scale(bell, 2 * std::numbers::inv_sqrtpi, i.at), i.at)};
}

}  // namespace

namespace ops {

const operation neg{.name = "neg",
                    .gradient = [](in i) { return list{troupe::neg(i.dy, i.at)}; },
                    .lower = lower_of_number<neg_of>,
                    .in_place = true,
                    .elementwise = true};
const operation exp{.name = "exp",
                    .gradient = [](in i) { return list{troupe::mul(i.dy, i.y, i.at)}; },
                    .lower = lower_packets<exp_of>,
                    .in_place = true,
                    .elementwise = true};
const operation expm1{.name = "expm1",
                      .gradient = [](in i) { return list{troupe::mul(i.dy, troupe::add(i.y, one(i), i.at), i.at)}; },
                      .lower = lower_float_packets<expm1_of>,
                      .in_place = true,
                      .elementwise = true};
const operation log{.name = "log",
                    .gradient = [](in i) { return list{troupe::div(i.dy, i.x[0], i.at)}; },
                    .lower = lower_packets<log_of>,
                    .in_place = true,
                    .elementwise = true};
const operation log1p{.name = "log1p",
                      .gradient = [](in i) { return list{troupe::div(i.dy, troupe::add(i.x[0], one(i), i.at), i.at)}; },
                      .lower = lower_float_packets<log1p_of>,
                      .in_place = true,
                      .elementwise = true};
const operation sqrt{.name = "sqrt",
                     .gradient = [](in i) { return list{troupe::div(troupe::scale(i.dy, 0.5, i.at), i.y, i.at)}; },
                     .lower = lower_plain<sqrt_of>,
                     .in_place = true,
                     .elementwise = true};
// y' = -y³/2
const operation rsqrt{.name = "rsqrt",
                      .gradient =
                          [](in i) {
                            return list{troupe::mul(troupe::scale(i.dy, -0.5, i.at),
                                                    troupe::mul(i.y, troupe::square(i.y, i.at), i.at), i.at)};
                          },
                      .lower = lower_plain<rsqrt_of>,
                      .in_place = true,
                      .elementwise = true};
const operation square{.name = "square",
                       .gradient = [](in i) { return list{troupe::mul(troupe::scale(i.dy, 2, i.at), i.x[0], i.at)}; },
                       .lower = lower_of_number<square_of>,
                       .in_place = true,
                       .elementwise = true};
const operation abs{.name = "abs",
                    .gradient = [](in i) { return list{troupe::mul(i.dy, troupe::sign(i.x[0], i.at), i.at)}; },
                    .lower = lower_of_number<abs_of>,
                    .in_place = true,
                    .elementwise = true};
const operation sign{.name = "sign",
                     .gradient = [](in) { return list{symbol{}}; },
                     .lower = lower_of_number<sign_of>,
                     .in_place = true,
                     .elementwise = true};
const operation floor{.name = "floor",
                      .gradient = [](in) { return list{symbol{}}; },
                      .lower = lower_plain<floor_of>,
                      .in_place = true,
                      .elementwise = true};
const operation erf{.name = "erf",
                    .gradient = erf_gradient,
                    .lower = lower_float_packets<erf_of>,
                    .in_place = true,
                    .elementwise = true};
const operation relu{.name = "relu",
                     .gradient = [](in i) { return list{troupe::relu_gradient(i.dy, i.y, i.at)}; },
                     .lower = lower_plain<relu_of>,
                     .in_place = true,
                     .elementwise = true};
// y' = y·(1 - y)
const operation sigmoid{
    .name = "sigmoid",
    .gradient = [](in i) { return list{troupe::mul(i.dy, troupe::sub(i.y, troupe::square(i.y, i.at), i.at), i.at)}; },
    .lower = lower_packets<sigmoid_of>,
    .in_place = true,
    .elementwise = true};
const operation softplus{.name = "softplus",
                         .gradient = [](in i) { return list{troupe::mul(i.dy, troupe::sigmoid(i.x[0], i.at), i.at)}; },
                         .lower = lower_float_packets<softplus_of>,
                         .in_place = true,
                         .elementwise = true};
// y' = 1 - y²
const operation tanh{
    .name = "tanh",
    .gradient = [](in i) { return list{troupe::sub(i.dy, troupe::mul(i.dy, troupe::square(i.y, i.at), i.at), i.at)}; },
    .lower = lower_float_packets<tanh_of>,
    .in_place = true,
    .elementwise = true};
const operation scale{.name = "scale",
                      .gradient = [](in i) { return list{scale_per(i.dy, i.n.attr.number, i.n.attr.per, i.at)}; },
                      .lower = lower_scale,
                      .in_place = true,
                      .elementwise = true};
const operation clip{
    .name = "clip", .gradient = clip_gradient, .lower = lower_clip, .in_place = true, .elementwise = true};

}  // namespace ops

symbol neg(symbol x, std::source_location at) { return unary(ops::neg, domain::number, x, at); }
symbol exp(symbol x, std::source_location at) { return unary(ops::exp, domain::floating, x, at); }
symbol expm1(symbol x, std::source_location at) { return unary(ops::expm1, domain::floating, x, at); }
symbol log(symbol x, std::source_location at) { return unary(ops::log, domain::floating, x, at); }
symbol log1p(symbol x, std::source_location at) { return unary(ops::log1p, domain::floating, x, at); }
symbol sqrt(symbol x, std::source_location at) { return unary(ops::sqrt, domain::floating, x, at); }
symbol rsqrt(symbol x, std::source_location at) { return unary(ops::rsqrt, domain::floating, x, at); }
symbol square(symbol x, std::source_location at) { return unary(ops::square, domain::number, x, at); }
symbol abs(symbol x, std::source_location at) { return unary(ops::abs, domain::number, x, at); }
symbol sign(symbol x, std::source_location at) { return unary(ops::sign, domain::number, x, at); }
symbol floor(symbol x, std::source_location at) { return unary(ops::floor, domain::floating, x, at); }
symbol erf(symbol x, std::source_location at) { return unary(ops::erf, domain::floating, x, at); }
symbol relu(symbol x, std::source_location at) { return unary(ops::relu, domain::floating, x, at); }
symbol sigmoid(symbol x, std::source_location at) { return unary(ops::sigmoid, domain::floating, x, at); }
symbol softplus(symbol x, std::source_location at) { return unary(ops::softplus, domain::floating, x, at); }
symbol tanh(symbol x, std::source_location at) { return unary(ops::tanh, domain::floating, x, at); }
symbol scale(symbol x, double factor, std::source_location at) { return scale_per(x, factor, {}, at); }

symbol scale_per(symbol x, double factor, symbol_shape per, std::source_location at) {
  attributes attr;
  attr.number = factor;
  attr.per = std::move(per);
  return unary(ops::scale, domain::floating, x, at, std::move(attr));
}

symbol clip(symbol x, double least, double greatest, std::source_location at) {
  if (x.valid() && !(least <= greatest))
    return refuse(*x.owner(), "clip",
                  "least must be at most greatest, not " + std::to_string(least) + " and " + std::to_string(greatest),
                  at);
  attributes attr;
  attr.number = least;
  attr.number2 = greatest;
  return unary(ops::clip, domain::floating, x, at, std::move(attr));
}

}  // namespace troupe
