#include "tests/compute/operations/elementwise/special_functions.hpp"

#include <cmath>
#include <numbers>

namespace troupe::test {
namespace {

const std::source_location here = std::source_location::current();
using operands = const std::vector<symbol>&;

constexpr real inf = std::numeric_limits<real>::infinity(), nan = std::numeric_limits<real>::quiet_NaN();
constexpr real root = std::numbers::sqrt2_v<real> * std::numbers::inv_sqrtpi_v<real>;  // √(2/π)

formula constant(real c) {
  return [c](real, real) { return c; };
}

real sigmoid_of(real x) { return 1 / (1 + std::exp(-x)); }
real normal_below(real x) { return std::erfc(-x / std::numbers::sqrt2_v<real>) / 2; }
real normal_density(real x) { return std::exp(-x * x / 2) * root / 2; }
/// x · f(x), where f falls to 0 faster than x grows.
real times(real x, real f) { return f == 0 ? 0 : x * f; }

/// The inner function u of gelu_tanh and its first two derivatives. Beyond ±50 tanh(u) is ±1 to all digits, so x is
/// clamped there.
struct bent {
  real x, u, first, second, t, flat;
  explicit bent(real v) : x(std::isnan(v) ? v : std::fmin(std::fmax(v, -50.0L), 50.0L)) {
    constexpr real b = 0.044715L;
    u = root * (x + b * x * x * x);
    first = root * (1 + 3 * b * x * x);
    second = root * 6 * b * x;
    t = std::tanh(u);
    flat = std::abs(x) < 50 ? 1 / (std::cosh(u) * std::cosh(u)) : x - x;  // 1 - t²
  }
};
real gelu_value(real x) { return std::isnan(x) ? x : x < -50 ? 0 : x / 2 * (1 + bent{x}.t); }
real gelu_slope(real x) {
  const bent b{x};
  return (1 + b.t) / 2 + b.x / 2 * b.flat * b.first;
}
real gelu_curve(real x) {
  const bent b{x};
  return b.flat * (b.first + b.x / 2 * (b.second - 2 * b.t * b.first * b.first));
}

template <auto F>
std::function<symbol(operands)> one() {
  return [](operands x) { return F(x[0], here); };
}
template <auto F>
std::function<symbol(operands)> two() {
  return [](operands x) { return F(x[0], x[1], here); };
}

real power_slope(real a, real b) { return b == 0 ? 0 : b * std::pow(a, b - 1); }
real exponent_slope(real a, real b) { return a < 0 ? nan : std::pow(a, b) == 0 ? 0 : std::pow(a, b) * std::log(a); }

void add_arithmetic(std::vector<special_function>& all) {
  all.push_back(
      {"add", "", 2, two<add>(), [](real a, real b) { return a + b; }, {constant(1), constant(1)}, 0, 0, true});
  all.push_back(
      {"sub", "", 2, two<sub>(), [](real a, real b) { return a - b; }, {constant(1), constant(-1)}, 0, 0, true});
  all.push_back({"mul",
                 "",
                 2,
                 two<mul>(),
                 [](real a, real b) { return a * b; },
                 {[](real, real b) { return b; }, [](real a, real) { return a; }},
                 0,
                 0,
                 true});
  all.push_back({"div",
                 "",
                 2,
                 two<div>(),
                 [](real a, real b) { return a / b; },
                 {[](real, real b) { return 1 / b; }, [](real a, real b) { return -(a / b / b); }},
                 0,
                 1,
                 true});
  all.push_back(
      {"pow", "", 2, two<troupe::pow>(), [](real a, real b) { return std::pow(a, b); }, {power_slope, exponent_slope}});
  const auto chosen = [](bool least, bool first) {
    return [=](real a, real b) {
      return std::isnan(a) || std::isnan(b) ? nan : a == b ? 0.5L : ((a < b) == least) == first ? 1.0L : 0.0L;
    };
  };
  all.push_back({"maximum",
                 "",
                 2,
                 two<maximum>(),
                 [](real a, real b) { return std::isnan(a) || std::isnan(b) ? nan : std::fmax(a, b); },
                 {chosen(false, true), chosen(false, false)},
                 0,
                 0});
  all.push_back({"minimum",
                 "",
                 2,
                 two<minimum>(),
                 [](real a, real b) { return std::isnan(a) || std::isnan(b) ? nan : std::fmin(a, b); },
                 {chosen(true, true), chosen(true, false)},
                 0,
                 0});
  all.push_back({"relu_gradient",
                 "",
                 2,
                 two<relu_gradient>(),
                 [](real dy, real y) { return y > 0 ? dy : 0; },
                 {[](real, real y) { return y > 0 ? 1 : 0; }, constant(0)},
                 0,
                 0});
  all.push_back({"scale",
                 "",
                 1,
                 [](operands x) { return scale(x[0], 2.5, here); },
                 [](real x, real) { return 2.5L * x; },
                 {constant(2.5L)},
                 0,
                 0,
                 true});
  all.push_back({"scale",
                 "per 3",
                 1,
                 [](operands x) { return scale_per(x[0], 1, {extent{3}}, here); },
                 [](real x, real) { return x / 3; },
                 {constant(1 / 3.0L)},
                 0,
                 0,
                 true});
  all.push_back({"div",
                 "by the constant 41",
                 1,
                 [](operands x) { return x[0] / 41; },
                 [](real x, real) { return x / 41; },
                 {constant(1 / 41.0L)},
                 0,
                 0,
                 true});
}

void add_comparisons(std::vector<special_function>& all) {
  const auto compare = [&](const char* name, std::function<symbol(operands)> build, bool (*is)(real, real)) {
    all.push_back({name, "", 2, std::move(build), [is](real a, real b) { return is(a, b) ? 1 : 0; }, {}, 0, 0});
  };
  compare("equal", two<equal>(), [](real a, real b) { return a == b; });
  compare("not_equal", two<not_equal>(), [](real a, real b) { return a != b; });
  compare("less", two<less>(), [](real a, real b) { return a < b; });
  compare("less_equal", two<less_equal>(), [](real a, real b) { return a <= b; });
  compare("greater", two<greater>(), [](real a, real b) { return a > b; });
  compare("greater_equal", two<greater_equal>(), [](real a, real b) { return a >= b; });
  const auto positive = [](symbol x) { return greater(x, number_like(x, 0)); };
  compare(
      "logical_and", [=](operands x) { return logical_and(positive(x[0]), positive(x[1])); },
      [](real a, real b) { return a > 0 && b > 0; });
  compare(
      "logical_or", [=](operands x) { return logical_or(positive(x[0]), positive(x[1])); },
      [](real a, real b) { return a > 0 || b > 0; });
  compare(
      "logical_not", [=](operands x) { return logical_not(positive(add(x[0], x[1]))); },
      [](real a, real b) { return !(a + b > 0); });
  all.push_back({"select",
                 "",
                 2,
                 [](operands x) { return select(less(x[0], x[1]), x[0], x[1]); },
                 [](real a, real b) { return a < b ? a : b; },
                 {[](real a, real b) { return a < b ? 1 : 0; }, [](real a, real b) { return a < b ? 0 : 1; }},
                 0,
                 0});
}

void add_functions(std::vector<special_function>& all) {
  all.push_back({"neg", "", 1, one<neg>(), [](real x, real) { return -x; }, {constant(-1)}, 0, 0, true});
  all.push_back({"exp", "", 1, one<troupe::exp>(), [](real x, real) { return std::exp(x); }, {[](real x, real) {
                   return std::exp(x);
                 }}});
  all.push_back({"expm1",
                 "",
                 1,
                 one<troupe::expm1>(),
                 [](real x, real) { return std::expm1(x); },
                 {[](real x, real) { return std::exp(x); }},
                 4,
                 16,
                 true});
  all.push_back({"log", "", 1, one<troupe::log>(), [](real x, real) { return std::log(x); }, {[](real x, real) {
                   return 1 / x;
                 }}});
  all.push_back({"log1p",
                 "",
                 1,
                 one<troupe::log1p>(),
                 [](real x, real) { return std::log1p(x); },
                 {[](real x, real) { return 1 / (1 + x); }},
                 4,
                 16,
                 true});
  all.push_back({"sqrt",
                 "",
                 1,
                 one<troupe::sqrt>(),
                 [](real x, real) { return std::sqrt(x); },
                 {[](real x, real) { return 0.5L / std::sqrt(x); }},
                 1,
                 2,
                 true});
  all.push_back({"rsqrt",
                 "",
                 1,
                 one<troupe::rsqrt>(),
                 [](real x, real) { return 1 / std::sqrt(x); },
                 {[](real x, real) { return -0.5L / std::sqrt(x) / std::sqrt(x) / std::sqrt(x); }},
                 1});
  all.push_back(
      {"square", "", 1, one<square>(), [](real x, real) { return x * x; }, {[](real x, real) { return 2 * x; }}, 0, 0});
  all.push_back({"abs",
                 "",
                 1,
                 one<troupe::abs>(),
                 [](real x, real) { return std::abs(x); },
                 {[](real x, real) { return x > 0   ? 1
                                            : x < 0 ? -1
                                                    : x; }},
                 0,
                 0,
                 true});
  all.push_back(
      {"sign", "", 1, one<sign>(), [](real x, real) { return x > 0   ? 1
                                                             : x < 0 ? -1
                                                                     : x; }, {constant(0)}, 0, 0});
  all.push_back(
      {"floor", "", 1, one<troupe::floor>(), [](real x, real) { return std::floor(x); }, {constant(0)}, 0, 0, true});
  all.push_back({"erf",
                 "",
                 1,
                 one<troupe::erf>(),
                 [](real x, real) { return std::erf(x); },
                 {[](real x, real) { return 2 * std::numbers::inv_sqrtpi_v<real> * std::exp(-x * x); }},
                 8,
                 32,
                 true});
  all.push_back({"clip",
                 "",
                 1,
                 [](operands x) { return clip(x[0], -0.3, 0.6, here); },
                 [](real x, real) { return std::isnan(x) ? x : std::fmin(std::fmax(x, -0.3L), 0.6L); },
                 {[](real x, real) { return std::isnan(x)             ? nan
                                            : x >= -0.3L && x <= 0.6L ? 1
                                                                      : 0; }},
                 1});
  all.push_back({"relu",
                 "",
                 1,
                 one<relu>(),
                 [](real x, real) { return std::isnan(x) ? x
                                           : x > 0       ? x
                                                         : 0; },
                 {[](real x, real) { return std::isnan(x) ? nan
                                            : x > 0       ? 1
                                                          : 0; }},
                 0,
                 0});
  all.push_back({"sigmoid", "", 1, one<sigmoid>(), [](real x, real) { return sigmoid_of(x); }, {[](real x, real) {
                   return sigmoid_of(x) * sigmoid_of(-x);
                 }}});
  all.push_back({"softplus",
                 "",
                 1,
                 one<softplus>(),
                 [](real x, real) { return x > 100 ? x : std::log1p(std::exp(x)); },
                 {[](real x, real) { return sigmoid_of(x); }}});
  all.push_back({"tanh",
                 "",
                 1,
                 one<troupe::tanh>(),
                 [](real x, real) { return std::tanh(x); },
                 {[](real x, real) { return std::isinf(x) ? 0 : 1 / (std::cosh(x) * std::cosh(x)); }},
                 8,
                 128,
                 true});
  all.push_back({"gelu_tanh",
                 "",
                 1,
                 one<gelu_tanh>(),
                 [](real x, real) { return gelu_value(x); },
                 {[](real x, real) { return gelu_slope(x); }},
                 128,
                 128});
  all.push_back({"gelu_tanh_gradient",
                 "",
                 2,
                 two<gelu_tanh_gradient>(),
                 [](real dy, real x) { return dy * gelu_slope(x); },
                 {[](real, real x) { return gelu_slope(x); }, [](real dy, real x) { return dy * gelu_curve(x); }},
                 128,
                 256});
}

void add_casts(std::vector<special_function>& all) {
  const auto to = [&](const char* form, dtype type, formula value) {
    all.push_back({"cast", form, 1, [type](operands x) { return cast(x[0], type, here); }, std::move(value), {}, 0, 0});
  };
  const auto whole = [](real least, real greatest) {
    return [=](real x, real) { return std::isnan(x) ? 0 : std::trunc(std::fmin(std::fmax(x, least), greatest)); };
  };
  to("to int32", dtype::int32, whole(-0x1p31L, 0x1p31L - 1));
  to("to int64", dtype::int64, whole(-0x1p63L, 0x1p63L - 1));
  to("to uint8", dtype::uint8, whole(0, 255));
  to("to boolean", dtype::boolean, [](real x, real) { return x != 0 ? 1 : 0; });
  all.push_back({"cast",
                 "to float32",
                 1,
                 [](operands x) { return cast(x[0], dtype::float32, here); },
                 [](real x, real) { return static_cast<float>(x); },
                 {constant(1)},
                 0,
                 0});
}

void add_activations(std::vector<special_function>& all) {
  all.push_back({"leaky_relu",
                 "",
                 1,
                 [](operands x) { return leaky_relu(x[0], 0.25, here); },
                 [](real x, real) { return x > 0 ? x : 0.25L * x; },
                 {[](real x, real) { return std::isnan(x) ? nan
                                            : x > 0       ? 1
                                                          : 0.25L; }},
                 0,
                 0,
                 true});
  all.push_back({"elu", "", 1, one<elu>(), [](real x, real) { return x > 0 ? x : std::expm1(x); }, {[](real x, real) {
                   return x > 0 ? 1 : std::exp(x);
                 }}});
  all.push_back({"gelu",
                 "",
                 1,
                 one<gelu>(),
                 [](real x, real) { return times(x, normal_below(x)); },
                 {[](real x, real) { return normal_below(x) + times(x, normal_density(x)); }},
                 128,
                 128});
  all.push_back({"swish",
                 "",
                 1,
                 one<swish>(),
                 [](real x, real) { return times(x, sigmoid_of(x)); },
                 {[](real x, real) { return sigmoid_of(x) + times(x, sigmoid_of(x) * sigmoid_of(-x)); }},
                 8,
                 128});
}

}  // namespace

std::vector<special_function> special_functions() {
  std::vector<special_function> all;
  add_arithmetic(all);
  add_comparisons(all);
  add_functions(all);
  add_casts(all);
  add_activations(all);
  return all;
}

std::vector<known_difference> known_differences() {
  const auto one_is_nan = [](real a, real b, real) { return std::isnan(a) || std::isnan(b); };
  const auto is_nan = [](real x, real, real) { return std::isnan(x); };
  return {
      {"pow, exponent", {"pow"}, 1, [](real a, real, real) { return a <= 0; }, constant(0)},
      {"pow, denormal",
       {"pow"},
       1,
       [](real a, real b, real least) { return std::pow(a, b) > 0 && std::pow(a, b) < least; },
       constant(0)},
      {"maximum, minimum", {"maximum", "minimum"}, 0, one_is_nan, constant(1)},
      {"maximum, minimum", {"maximum", "minimum"}, 1, one_is_nan, constant(1)},
      {"relu, clip", {"relu", "clip"}, 0, is_nan, constant(0)},
      {"leaky_relu", {"leaky_relu"}, 0, is_nan, constant(0.25L)},
      {"gelu, swish", {"gelu", "swish"}, -1, [](real x, real, real) { return x == -inf; }, constant(nan)},
      {"gelu, swish", {"gelu", "swish"}, 0, [](real x, real, real) { return std::isinf(x); }, constant(nan)},
  };
}

}  // namespace troupe::test
