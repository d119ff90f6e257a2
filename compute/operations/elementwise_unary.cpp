// Element-wise operations of one operand.
#include "compute/kernels/simd.hpp"
#include "compute/operations/elementwise.hpp"

#include <cmath>

namespace troupe {
namespace {

struct neg_of { template <class T> static T f(T x, T) { return -x; } };
struct sqrt_of { template <class T> static T f(T x, T) { return std::sqrt(x); } };
struct square_of { template <class T> static T f(T x, T) { return x * x; } };
struct abs_of { template <class T> static T f(T x, T) { return std::abs(x); } };
struct sign_of { template <class T> static T f(T x, T) { return static_cast<T>((x > T{0}) - (x < T{0})); } };
struct relu_of { template <class T> static T f(T x, T) { return x < T{0} ? T{0} : x; } };  // NaN stays.
struct scale_of { template <class T> static T f(T x, T factor) { return x * factor; } };

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

// Functions that the vector units have no instruction for.
struct exp_of { template <class T> static auto f(const simd::packet<T>& x) { return simd::pexp(x); } };
struct log_of { template <class T> static auto f(const simd::packet<T>& x) { return simd::plog(x); } };
// 1 / (1 + e^-x); e^-x may be infinite, which yields 0.
struct sigmoid_of {
  template <class T>
  static auto f(const simd::packet<T>& x) {
    const auto one = simd::set(T{1});
    return simd::pdiv(one, simd::padd(one, simd::pexp(simd::psub(simd::set(T{0}), x))));
  }
};

template <class Op, class T>
void packet_kernel(const kernel_call& c, run_state& s) {
  simd::map(c.to<const T>(s, 0), c.to<T>(s, 1), c.n[0], [](const simd::packet<T>& x) { return Op::template f<T>(x); });
}

template <class T>
void tanh_kernel(const kernel_call& c, run_state& s) {
  const T* x = c.to<const T>(s, 0);
  T* y = c.to<T>(s, 1);
  if constexpr (std::is_same_v<T, float>)
    simd::map(x, y, c.n[0], [](const simd::packet<float>& v) { return Eigen::internal::ptanh(v); });
  else
    for (int64_t i = 0; i < c.n[0]; ++i)
      y[i] = std::tanh(x[i]);
}

void lower_operands(lowering& l) {
  l.kernel.at[0] = l.in_at(0);
  l.kernel.at[1] = l.out_at();
  l.kernel.n[0] = l.out().dims.elements();
  l.kernel.number = l.call.attr.number;
}

template <class Op>
void lower_plain(lowering& l) {
  lower_operands(l);
  l.run(l.in(0).type, unary_kernel<Op, float>, unary_kernel<Op, double>);
}

template <class Op>
void lower_packets(lowering& l) {
  lower_operands(l);
  l.run(l.in(0).type, packet_kernel<Op, float>, packet_kernel<Op, double>);
}

void lower_tanh(lowering& l) {
  lower_operands(l);
  l.run(l.in(0).type, tanh_kernel<float>, tanh_kernel<double>);
}

symbol unary(const operation& op, symbol x, std::source_location at, attributes attr = {}) {
  graph* g = common_graph(op.name, {x}, at);
  if (!g)
    return x;
  if (!is_floating(x.type()))
    return refuse(*g, op.name, "no such operation on " + std::string{to_string(x.type())} + " " + to_string(*g, x.dims()), at);
  return append(*g, op, {x}, x.type(), symbol_shape{x.dims()}, at, std::move(attr));
}

}  // namespace

namespace ops {

using in = const gradient_input&;
using list = std::vector<symbol>;

const operation neg{.name = "neg", .gradient = [](in i) { return list{troupe::neg(i.dy, i.at)}; }, .lower = lower_plain<neg_of>, .in_place = true};
const operation exp{.name = "exp", .gradient = [](in i) { return list{troupe::mul(i.dy, i.y, i.at)}; }, .lower = lower_packets<exp_of>, .in_place = true};
const operation log{.name = "log", .gradient = [](in i) { return list{troupe::div(i.dy, i.x[0], i.at)}; }, .lower = lower_packets<log_of>, .in_place = true};
const operation sqrt{.name = "sqrt", .gradient = [](in i) {
                       return list{troupe::div(troupe::scale(i.dy, 0.5, i.at), i.y, i.at)};
                     }, .lower = lower_plain<sqrt_of>, .in_place = true};
const operation square{.name = "square", .gradient = [](in i) {
                         return list{troupe::mul(troupe::scale(i.dy, 2, i.at), i.x[0], i.at)};
                       }, .lower = lower_plain<square_of>, .in_place = true};
const operation abs{.name = "abs", .gradient = [](in i) { return list{troupe::mul(i.dy, troupe::sign(i.x[0], i.at), i.at)}; },
                    .lower = lower_plain<abs_of>, .in_place = true};
const operation sign{.name = "sign", .gradient = [](in) { return list{symbol{}}; }, .lower = lower_plain<sign_of>, .in_place = true};
const operation relu{.name = "relu", .gradient = [](in i) { return list{troupe::relu_gradient(i.dy, i.y, i.at)}; },
                     .lower = lower_plain<relu_of>, .in_place = true};
// y' = y·(1 - y)
const operation sigmoid{.name = "sigmoid", .gradient = [](in i) {
                          return list{troupe::mul(i.dy, troupe::sub(i.y, troupe::square(i.y, i.at), i.at), i.at)};
                        }, .lower = lower_packets<sigmoid_of>, .in_place = true};
// y' = 1 - y²
const operation tanh{.name = "tanh", .gradient = [](in i) {
                       return list{troupe::sub(i.dy, troupe::mul(i.dy, troupe::square(i.y, i.at), i.at), i.at)};
                     }, .lower = lower_tanh, .in_place = true};
const operation scale{.name = "scale", .gradient = [](in i) {
                        return list{scale_per(i.dy, i.n.attr.number, i.n.attr.per, i.at)};
                      }, .lower = lower_plain<scale_of>, .in_place = true};

}  // namespace ops

symbol neg(symbol x, std::source_location at) { return unary(ops::neg, x, at); }
symbol exp(symbol x, std::source_location at) { return unary(ops::exp, x, at); }
symbol log(symbol x, std::source_location at) { return unary(ops::log, x, at); }
symbol sqrt(symbol x, std::source_location at) { return unary(ops::sqrt, x, at); }
symbol square(symbol x, std::source_location at) { return unary(ops::square, x, at); }
symbol abs(symbol x, std::source_location at) { return unary(ops::abs, x, at); }
symbol sign(symbol x, std::source_location at) { return unary(ops::sign, x, at); }
symbol relu(symbol x, std::source_location at) { return unary(ops::relu, x, at); }
symbol sigmoid(symbol x, std::source_location at) { return unary(ops::sigmoid, x, at); }
symbol tanh(symbol x, std::source_location at) { return unary(ops::tanh, x, at); }
symbol scale(symbol x, double factor, std::source_location at) { return scale_per(x, factor, {}, at); }

symbol scale_per(symbol x, double factor, symbol_shape per, std::source_location at) {
  attributes attr;
  attr.number = factor;
  attr.per = std::move(per);
  return unary(ops::scale, x, at, std::move(attr));
}

}  // namespace troupe
