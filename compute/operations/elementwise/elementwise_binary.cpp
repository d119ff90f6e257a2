// Element-wise arithmetic of two operands, with broadcasting.
#include "compute/kernels/elementary.hpp"
#include "compute/operations/elementwise/elementwise.hpp"

namespace troupe {

bool is_in(domain d, dtype type) noexcept {
  switch (d) {
    case domain::floating: return is_floating(type);
    case domain::number: return is_number(type);
    case domain::boolean: return type == dtype::boolean;
    case domain::any: return true;
  }
  return false;
}

symbol binary(const operation& op, domain of, symbol a, symbol b, std::source_location at,
              std::optional<dtype> result) {
  graph* g = common_graph(op.name, {a, b}, at);
  if (!g)
    return a.owner() ? symbol_of(*a.owner(), -1) : symbol{};
  if (a.type() != b.type() || !is_in(of, a.type()))
    return refuse(*g, op.name, "no such operation on " + describe(a) + " and " + describe(b), at);
  auto dims = broadcast(a.dims(), b.dims());
  if (!dims)
    return refuse(*g, op.name,
                  "shapes " + to_string(*g, a.dims()) + " and " + to_string(*g, b.dims()) + " do not broadcast", at);
  return append(*g, op, {a, b}, result.value_or(a.type()), std::move(*dims), at);
}

void lower_operands(lowering& l) {
  const shape& out = l.out().dims;
  lower_walk(l, make_walk(out, {stretched(out, l.in(0).dims), stretched(out, l.in(1).dims)}));
  l.kernel.at[0] = l.in_at(0);
  l.kernel.at[1] = l.in_at(1);
  l.kernel.at[2] = l.out_at();
}

std::vector<symbol> to_operands(const gradient_input& in, symbol da, symbol db) {
  return {da.valid() ? sum_to(da, in.x[0].dims(), in.at) : da, db.valid() ? sum_to(db, in.x[1].dims(), in.at) : db};
}

namespace {

// The functions of two numbers.
struct add_of {
  template <class T>
  static T f(T a, T b) {
    return modular(a, b, [](auto x, auto y) { return x + y; });
  }
};
struct sub_of {
  template <class T>
  static T f(T a, T b) {
    return modular(a, b, [](auto x, auto y) { return x - y; });
  }
};
struct mul_of {
  template <class T>
  static T f(T a, T b) {
    return modular(a, b, [](auto x, auto y) { return x * y; });
  }
};
struct div_of {
  template <class T>
  static T f(T a, T b) {
    return a / b;
  }
};
struct pow_of {
  template <class T>
  static T f(T a, T b) {
    return elementary::pow(a, b);
  }
};
struct maximum_of {
  template <class T>
  static T f(T a, T b) {
    return a < b || b != b ? b : a;
  }
};
struct minimum_of {
  template <class T>
  static T f(T a, T b) {
    return b < a || b != b ? b : a;
  }
};
struct relu_gradient_of {
  template <class T>
  static T f(T dy, T y) {
    return y > T{0} ? dy : T{0};
  }
};

using in = const gradient_input&;
using list = std::vector<symbol>;

/// Passes dy to the chosen operand, half to each where they are equal. `a_wins`: a is chosen or equal; `b_wins`
/// likewise.
list chosen_gradient(in i, symbol a_wins, symbol b_wins) {
  const symbol zero = fill(i.g, 0, i.n.type, {}, i.at), half = scale(i.dy, 0.5, i.at);
  const symbol to_b = select(a_wins, select(b_wins, half, zero, i.at), i.dy, i.at);
  const symbol to_a = select(b_wins, select(a_wins, half, zero, i.at), i.dy, i.at);
  return to_operands(i, to_a, to_b);
}

/// da = dy·b·a^(b-1), and 0 where b is 0; db = dy·a^b·log a, and 0 where a <= 0 or a^b is 0, since 0·∞ is NaN. As in
/// TensorFlow, a^(b-1) is computed directly: a^b / a would fail for a = 0.
list pow_gradient(in i) {
  const symbol a = i.x[0], b = i.x[1];
  const symbol one = fill(i.g, 1, i.n.type, {}, i.at), zero = fill(i.g, 0, i.n.type, {}, i.at);
  const symbol slope = mul(b, pow(a, sub(b, one, i.at), i.at), i.at);
  const symbol da = mul(i.dy, select(equal(b, zero, i.at), zero, slope, i.at), i.at);
  const symbol negative = less_equal(a, zero, i.at), flat = logical_or(negative, equal(i.y, zero, i.at), i.at);
  const symbol log_a = log(select(negative, one, a, i.at), i.at);
  // `select` yields 0 even where a^b is not finite.
  return to_operands(i, da, select(flat, zero, mul(i.dy, mul(i.y, log_a, i.at), i.at), i.at));
}

}  // namespace

namespace ops {

const operation add{.name = "add",
                    .gradient = [](in i) { return to_operands(i, i.dy, i.dy); },
                    .lower = lower_number<add_of>,
                    .in_place = true,
                    .elementwise = true};
const operation sub{.name = "sub",
                    .gradient = [](in i) { return to_operands(i, i.dy, troupe::neg(i.dy, i.at)); },
                    .lower = lower_number<sub_of>,
                    .in_place = true,
                    .elementwise = true};
const operation mul{
    .name = "mul",
    .gradient = [](in i) { return to_operands(i, troupe::mul(i.dy, i.x[1], i.at), troupe::mul(i.dy, i.x[0], i.at)); },
    .lower = lower_number<mul_of>,
    .in_place = true,
    .elementwise = true};
// d(a/b) = da/b - (a/b)·db/b
const operation div{.name = "div",
                    .gradient =
                        [](in i) {
                          // y/b · dy, not dy/b · y: dy/b may be 0 or infinite where the result is not.
                          const symbol down = troupe::div(i.y, i.x[1], i.at);
                          return to_operands(i, troupe::div(i.dy, i.x[1], i.at),
                                             troupe::neg(troupe::mul(i.dy, down, i.at), i.at));
                        },
                    .lower = lower_floating<div_of>,
                    .in_place = true,
                    .elementwise = true};
const operation pow{
    .name = "pow", .gradient = pow_gradient, .lower = lower_floating<pow_of>, .in_place = true, .elementwise = true};
const operation maximum{.name = "maximum",
                        .gradient =
                            [](in i) {
                              return chosen_gradient(i, troupe::greater_equal(i.x[0], i.x[1], i.at),
                                                     troupe::greater_equal(i.x[1], i.x[0], i.at));
                            },
                        .lower = lower_number<maximum_of>,
                        .in_place = true,
                        .elementwise = true};
const operation minimum{.name = "minimum",
                        .gradient =
                            [](in i) {
                              return chosen_gradient(i, troupe::less_equal(i.x[0], i.x[1], i.at),
                                                     troupe::less_equal(i.x[1], i.x[0], i.at));
                            },
                        .lower = lower_number<minimum_of>,
                        .in_place = true,
                        .elementwise = true};
const operation relu_gradient{
    .name = "relu_gradient",
    .gradient = [](in i) { return to_operands(i, troupe::relu_gradient(i.dy, i.x[1], i.at), symbol{}); },
    .lower = lower_floating<relu_gradient_of>,
    .in_place = true,
    .elementwise = true};

}  // namespace ops

symbol add(symbol a, symbol b, std::source_location at) { return binary(ops::add, domain::number, a, b, at); }
symbol sub(symbol a, symbol b, std::source_location at) { return binary(ops::sub, domain::number, a, b, at); }
symbol mul(symbol a, symbol b, std::source_location at) { return binary(ops::mul, domain::number, a, b, at); }
symbol div(symbol a, symbol b, std::source_location at) { return binary(ops::div, domain::floating, a, b, at); }
symbol pow(symbol a, symbol b, std::source_location at) { return binary(ops::pow, domain::floating, a, b, at); }
symbol maximum(symbol a, symbol b, std::source_location at) { return binary(ops::maximum, domain::number, a, b, at); }
symbol minimum(symbol a, symbol b, std::source_location at) { return binary(ops::minimum, domain::number, a, b, at); }
symbol relu_gradient(symbol dy, symbol y, std::source_location at) {
  return binary(ops::relu_gradient, domain::floating, dy, y, at);
}

}  // namespace troupe
