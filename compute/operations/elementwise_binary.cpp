// Element-wise operations of two operands, with broadcasting.
#include "compute/operations/elementwise.hpp"

namespace troupe {

std::optional<symbol_shape> broadcast(const symbol_shape& a, const symbol_shape& b) {
  const symbol_shape& longer = a.size() >= b.size() ? a : b;
  const symbol_shape& shorter = a.size() >= b.size() ? b : a;
  symbol_shape out = longer;
  for (size_t i = 0; i < shorter.size(); ++i) {
    extent& e = out[out.size() - 1 - i];
    const extent& f = shorter[shorter.size() - 1 - i];
    if (e == f || f == extent{1})
      continue;
    if (e != extent{1})
      return {};
    e = f;
  }
  return out;
}

walk make_walk(const shape& out, const shape& a, const shape& b) {
  // Strides of row-major operands, 0 where stretched; then neighbours are merged where both walk on evenly.
  walk w;
  const auto stride = [&](const shape& s, int axis) -> int64_t {
    const int own = axis - (out.rank() - s.rank());
    if (own < 0 || (s[own] == 1 && out[axis] != 1))
      return 0;
    int64_t n = 1;
    for (int i = own + 1; i < s.rank(); ++i)
      n *= s[i];
    return n;
  };
  for (int i = 0; i < out.rank(); ++i) {
    if (out[i] == 1)
      continue;
    const int64_t sa = stride(a, i), sb = stride(b, i);
    const int last = w.rank - 1;
    if (last >= 0 && w.stride_a[last] == sa * out[i] && w.stride_b[last] == sb * out[i]) {
      w.extent[last] *= out[i];
      w.stride_a[last] = sa;
      w.stride_b[last] = sb;
    } else {
      w.extent[w.rank] = out[i];
      w.stride_a[w.rank] = sa;
      w.stride_b[w.rank++] = sb;
    }
  }
  if (w.rank == 0) {
    w.rank = 1;
    w.extent[0] = 1;
  }
  return w;
}

namespace {

// Each function of two numbers.
struct add_of { template <class T> static T f(T a, T b) { return a + b; } };
struct sub_of { template <class T> static T f(T a, T b) { return a - b; } };
struct mul_of { template <class T> static T f(T a, T b) { return a * b; } };
struct div_of { template <class T> static T f(T a, T b) { return a / b; } };
struct maximum_of { template <class T> static T f(T a, T b) { return a < b || b != b ? b : a; } };
struct minimum_of { template <class T> static T f(T a, T b) { return b < a || b != b ? b : a; } };
struct equal_of { template <class T> static bool f(T a, T b) { return a == b; } };
struct greater_equal_of { template <class T> static bool f(T a, T b) { return a >= b; } };
struct relu_gradient_of { template <class T> static T f(T dy, T y) { return y > T{0} ? dy : T{0}; } };

template <class Op, class T, class Out>
void binary_kernel(const kernel_call& c, run_state& s) {
  const T* a0 = c.to<const T>(s, 0);
  const T* b0 = c.to<const T>(s, 1);
  Out* out0 = c.to<Out>(s, 2);
  for_each_run(*c.strides, [&](int64_t at, int64_t ia, int64_t ib, int64_t n, int64_t sa, int64_t sb) {
    const T* a = a0 + ia;
    const T* b = b0 + ib;
    Out* out = out0 + at;
    if (sa == 1 && sb == 1) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        out[i] = Op::f(a[i], b[i]);
    } else if (sa == 1 && sb == 0) {
      const T y = *b;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        out[i] = Op::f(a[i], y);
    } else if (sa == 0 && sb == 1) {
      const T x = *a;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        out[i] = Op::f(x, b[i]);
    } else {
      for (int64_t i = 0; i < n; ++i)
        out[i] = Op::f(a[i * sa], b[i * sb]);
    }
  });
}

void lower_operands(lowering& l) {
  walk& w = l.new_walk();
  w = make_walk(l.out().dims, l.in(0).dims, l.in(1).dims);
  l.kernel.strides = &w;
  l.kernel.at[0] = l.in_at(0);
  l.kernel.at[1] = l.in_at(1);
  l.kernel.at[2] = l.out_at();
}

template <class Op>
void lower_floating(lowering& l) {
  lower_operands(l);
  l.run(l.in(0).type, binary_kernel<Op, float, float>, binary_kernel<Op, double, double>);
}

template <class Op>
void lower_comparison(lowering& l) {
  lower_operands(l);
  switch (l.in(0).type) {
    case dtype::float32: l.kernel.run = binary_kernel<Op, float, bool>; break;
    case dtype::float64: l.kernel.run = binary_kernel<Op, double, bool>; break;
    case dtype::int32: l.kernel.run = binary_kernel<Op, int32_t, bool>; break;
    case dtype::int64: l.kernel.run = binary_kernel<Op, int64_t, bool>; break;
    case dtype::boolean:
    case dtype::uint8: l.kernel.run = binary_kernel<Op, uint8_t, bool>; break;
  }
}

symbol binary(const operation& op, symbol a, symbol b, std::source_location at) {
  graph* g = common_graph(op.name, {a, b}, at);
  if (!g)
    return a.owner() ? a.owner()->make_symbol(-1) : symbol{};
  const bool compares = &op == &ops::equal || &op == &ops::greater_equal;
  if (a.type() != b.type() || (!compares && !is_floating(a.type())))
    return refuse(*g, op.name, "no such operation on " + std::string{to_string(a.type())} + " " + to_string(*g, a.dims()) + " and "
                                 + std::string{to_string(b.type())} + " " + to_string(*g, b.dims()), at);
  auto dims = broadcast(a.dims(), b.dims());
  if (!dims)
    return refuse(*g, op.name, "shapes " + to_string(*g, a.dims()) + " and " + to_string(*g, b.dims()) + " do not broadcast", at);
  return append(*g, op, {a, b}, compares ? dtype::boolean : a.type(), std::move(*dims), at);
}

symbol where(symbol condition, symbol dy, std::source_location at) { return mul(dy, stop_gradient(cast(condition, dy.type(), at), at), at); }

std::vector<symbol> both(const gradient_input& in, symbol da, symbol db) {
  return {da.valid() ? sum_to(da, in.x[0].dims(), in.at) : da, db.valid() ? sum_to(db, in.x[1].dims(), in.at) : db};
}

}  // namespace

namespace ops {

const operation add{.name = "add", .gradient = [](const gradient_input& in) { return both(in, in.dy, in.dy); },
                    .lower = lower_floating<add_of>, .in_place = true};
const operation sub{.name = "sub", .gradient = [](const gradient_input& in) { return both(in, in.dy, troupe::neg(in.dy, in.at)); },
                    .lower = lower_floating<sub_of>, .in_place = true};
const operation mul{.name = "mul", .gradient = [](const gradient_input& in) {
                      return both(in, troupe::mul(in.dy, in.x[1], in.at), troupe::mul(in.dy, in.x[0], in.at));
                    }, .lower = lower_floating<mul_of>, .in_place = true};
// d(a/b) = da/b - (a/b)·db/b
const operation div{.name = "div", .gradient = [](const gradient_input& in) {
                      const symbol da = troupe::div(in.dy, in.x[1], in.at);
                      return both(in, da, troupe::neg(troupe::mul(da, in.y, in.at), in.at));
                    }, .lower = lower_floating<div_of>, .in_place = true};
// The gradient goes to the operand that was chosen, to both where they are equal half each.
const operation maximum{.name = "maximum", .gradient = [](const gradient_input& in) {
                          const symbol half = troupe::scale(in.dy, 0.5, in.at);
                          const symbol a = where(troupe::greater_equal(in.x[0], in.x[1], in.at), half, in.at);
                          const symbol b = where(troupe::greater_equal(in.x[1], in.x[0], in.at), half, in.at);
                          // a > b: a = half, b = 0; equal: both half. dy - (the other's half)·2 + ... = half + a - b.
                          return both(in, troupe::sub(troupe::add(half, a, in.at), b, in.at), troupe::sub(troupe::add(half, b, in.at), a, in.at));
                        }, .lower = lower_floating<maximum_of>, .in_place = true};
const operation minimum{.name = "minimum", .gradient = [](const gradient_input& in) {
                          const symbol half = troupe::scale(in.dy, 0.5, in.at);
                          const symbol a = where(troupe::greater_equal(in.x[1], in.x[0], in.at), half, in.at);
                          const symbol b = where(troupe::greater_equal(in.x[0], in.x[1], in.at), half, in.at);
                          return both(in, troupe::sub(troupe::add(half, a, in.at), b, in.at), troupe::sub(troupe::add(half, b, in.at), a, in.at));
                        }, .lower = lower_floating<minimum_of>, .in_place = true};
const operation equal{.name = "equal", .no_gradient = "its value is boolean", .lower = lower_comparison<equal_of>};
const operation greater_equal{.name = "greater_equal", .no_gradient = "its value is boolean", .lower = lower_comparison<greater_equal_of>};
const operation relu_gradient{.name = "relu_gradient", .gradient = [](const gradient_input& in) {
                                return both(in, troupe::relu_gradient(in.dy, in.x[1], in.at), symbol{});
                              }, .lower = lower_floating<relu_gradient_of>, .in_place = true};

}  // namespace ops

symbol add(symbol a, symbol b, std::source_location at) { return binary(ops::add, a, b, at); }
symbol sub(symbol a, symbol b, std::source_location at) { return binary(ops::sub, a, b, at); }
symbol mul(symbol a, symbol b, std::source_location at) { return binary(ops::mul, a, b, at); }
symbol div(symbol a, symbol b, std::source_location at) { return binary(ops::div, a, b, at); }
symbol maximum(symbol a, symbol b, std::source_location at) { return binary(ops::maximum, a, b, at); }
symbol minimum(symbol a, symbol b, std::source_location at) { return binary(ops::minimum, a, b, at); }
symbol equal(symbol a, symbol b, std::source_location at) { return binary(ops::equal, a, b, at); }
symbol greater_equal(symbol a, symbol b, std::source_location at) { return binary(ops::greater_equal, a, b, at); }
symbol relu_gradient(symbol dy, symbol y, std::source_location at) { return binary(ops::relu_gradient, dy, y, at); }

}  // namespace troupe
