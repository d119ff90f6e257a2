// Comparisons, logic and select.
#include "compute/operations/elementwise/elementwise.hpp"

namespace troupe {
namespace {

struct equal_of {
  template <class T>
  static bool f(T a, T b) {
    return a == b;
  }
};
struct not_equal_of {
  template <class T>
  static bool f(T a, T b) {
    return a != b;
  }
};
struct less_of {
  template <class T>
  static bool f(T a, T b) {
    return a < b;
  }
};
struct less_equal_of {
  template <class T>
  static bool f(T a, T b) {
    return a <= b;
  }
};
struct greater_of {
  template <class T>
  static bool f(T a, T b) {
    return a > b;
  }
};
struct greater_equal_of {
  template <class T>
  static bool f(T a, T b) {
    return a >= b;
  }
};
struct and_of {
  static bool f(uint8_t a, uint8_t b) { return (a & b) != 0; }
};
struct or_of {
  static bool f(uint8_t a, uint8_t b) { return (a | b) != 0; }
};

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

template <class Op>
void lower_logic(lowering& l) {
  lower_operands(l);
  l.kernel.run = binary_kernel<Op, uint8_t, bool>;
}

void not_kernel(const kernel_call& c, run_state& s) {
  const auto* x = c.to<const uint8_t>(s, 0);
  auto* y = c.to<uint8_t>(s, 1);
#pragma GCC ivdep
  for (int64_t i = 0; i < c.n[0]; ++i)
    y[i] = x[i] == 0;
}

void lower_not(lowering& l) {
  lower_elements(l);
  l.kernel.run = not_kernel;
}

template <class T>
void select_kernel(const kernel_call& c, run_state& s) {
  const auto* condition0 = c.to<const uint8_t>(s, 0);
  const T* a0 = c.to<const T>(s, 1);
  const T* b0 = c.to<const T>(s, 2);
  T* y0 = c.to<T>(s, 3);
  for_each_inner_loop(*c.strides, [&](const inner_loop& r) {
    const uint8_t* condition = condition0 + r.at[0];
    const T* a = a0 + r.at[1];
    const T* b = b0 + r.at[2];
    T* y = y0 + r.out;
    const int64_t sc = r.stride[0], sa = r.stride[1], sb = r.stride[2];
    if (sc == 1 && sa == 1 && sb == 1) {
#pragma GCC ivdep
      for (int64_t i = 0; i < r.n; ++i)
        y[i] = condition[i] ? a[i] : b[i];
    } else if (sc == 1 && sa == 1 && sb == 0) {
      const T otherwise = *b;
#pragma GCC ivdep
      for (int64_t i = 0; i < r.n; ++i)
        y[i] = condition[i] ? a[i] : otherwise;
    } else {
      for (int64_t i = 0; i < r.n; ++i)
        y[i] = condition[i * sc] ? a[i * sa] : b[i * sb];
    }
  });
}

void lower_select(lowering& l) {
  const shape& out = l.out().dims;
  lower_walk(
      l, make_walk(out, {stretched(out, l.in(0).dims), stretched(out, l.in(1).dims), stretched(out, l.in(2).dims)}));
  for (int i = 0; i < 3; ++i)
    l.kernel.at[i] = l.in_at(i);
  l.kernel.at[3] = l.out_at();
  l.run_by_size(l.out().type, select_kernel<uint8_t>, select_kernel<uint32_t>, select_kernel<uint64_t>);
}

std::vector<symbol> select_gradient(const gradient_input& in) {
  const symbol zero = fill(in.g, 0, in.n.type, {}, in.at);
  return {symbol{}, sum_to(select(in.x[0], in.dy, zero, in.at), in.x[1].dims(), in.at),
          sum_to(select(in.x[0], zero, in.dy, in.at), in.x[2].dims(), in.at)};
}

constexpr std::string_view is_boolean = "its value is boolean";

symbol compare(const operation& op, symbol a, symbol b, std::source_location at) {
  return binary(op, domain::any, a, b, at, dtype::boolean);
}

}  // namespace

namespace ops {
const operation equal{
    .name = "equal", .no_gradient = is_boolean, .lower = lower_comparison<equal_of>, .elementwise = true};
const operation not_equal{
    .name = "not_equal", .no_gradient = is_boolean, .lower = lower_comparison<not_equal_of>, .elementwise = true};
const operation less{
    .name = "less", .no_gradient = is_boolean, .lower = lower_comparison<less_of>, .elementwise = true};
const operation less_equal{
    .name = "less_equal", .no_gradient = is_boolean, .lower = lower_comparison<less_equal_of>, .elementwise = true};
const operation greater{
    .name = "greater", .no_gradient = is_boolean, .lower = lower_comparison<greater_of>, .elementwise = true};
const operation greater_equal{.name = "greater_equal",
                              .no_gradient = is_boolean,
                              .lower = lower_comparison<greater_equal_of>,
                              .elementwise = true};
const operation logical_and{.name = "logical_and",
                            .no_gradient = is_boolean,
                            .lower = lower_logic<and_of>,
                            .in_place = true,
                            .elementwise = true};
const operation logical_or{.name = "logical_or",
                           .no_gradient = is_boolean,
                           .lower = lower_logic<or_of>,
                           .in_place = true,
                           .elementwise = true};
const operation logical_not{
    .name = "logical_not", .no_gradient = is_boolean, .lower = lower_not, .in_place = true, .elementwise = true};
const operation select{
    .name = "select", .gradient = select_gradient, .lower = lower_select, .in_place = true, .elementwise = true};
}  // namespace ops

symbol equal(symbol a, symbol b, std::source_location at) { return compare(ops::equal, a, b, at); }
symbol not_equal(symbol a, symbol b, std::source_location at) { return compare(ops::not_equal, a, b, at); }
symbol less(symbol a, symbol b, std::source_location at) { return compare(ops::less, a, b, at); }
symbol less_equal(symbol a, symbol b, std::source_location at) { return compare(ops::less_equal, a, b, at); }
symbol greater(symbol a, symbol b, std::source_location at) { return compare(ops::greater, a, b, at); }
symbol greater_equal(symbol a, symbol b, std::source_location at) { return compare(ops::greater_equal, a, b, at); }
symbol logical_and(symbol a, symbol b, std::source_location at) {
  return binary(ops::logical_and, domain::boolean, a, b, at);
}
symbol logical_or(symbol a, symbol b, std::source_location at) {
  return binary(ops::logical_or, domain::boolean, a, b, at);
}
symbol logical_not(symbol x, std::source_location at) { return unary(ops::logical_not, domain::boolean, x, at); }

symbol select(symbol condition, symbol a, symbol b, std::source_location at) {
  graph* g = common_graph("select", {condition, a, b}, at);
  if (!g)
    return condition.owner() ? symbol_of(*condition.owner(), -1) : symbol{};
  if (condition.type() != dtype::boolean || a.type() != b.type())
    return refuse(*g, "select",
                  "the condition must be boolean and both values of one dtype, not " + describe(condition) + ", "
                      + describe(a) + " and " + describe(b),
                  at);
  const auto values = broadcast(a.dims(), b.dims());
  auto dims = values ? broadcast(condition.dims(), *values) : std::nullopt;
  if (!dims)
    return refuse(*g, "select",
                  "shapes " + to_string(*g, condition.dims()) + ", " + to_string(*g, a.dims()) + " and "
                      + to_string(*g, b.dims()) + " do not broadcast",
                  at);
  return append(*g, ops::select, {condition, a, b}, a.type(), std::move(*dims), at);
}

}  // namespace troupe
