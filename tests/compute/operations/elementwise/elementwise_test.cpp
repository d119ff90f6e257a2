#include "compute/graph/operation.hpp"
#include "tests/compute/operations/values.hpp"
#include "tests/support/has.hpp"

#include <limits>

namespace troupe {

using namespace test;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
const std::source_location here = std::source_location::current();

/// Points from -big to big, dense around 0; enough of them for whole and partial vectors.
std::vector<double> points(double big) {
  std::vector<double> x = {0.0, -0.0};
  for (double v = big; v > 1e-6; v *= 0.83) {
    x.push_back(v);
    x.push_back(-v);
  }
  return x;
}

/// Compares f with the float64 formula in both floating-point types. Numbers below `least` are left out.
void check_function(activation f, double (*formula)(double), double big, double least = -inf, double epsilon32 = 3e-7) {
  std::vector<double> x, want, want32;
  for (double v : points(big))
    if (v >= least) {
      x.push_back(v);
      want.push_back(formula(v));
      want32.push_back(formula(static_cast<double>(static_cast<float>(v))));
    }
  const auto n = static_cast<int64_t>(x.size());
  const std::vector<float> narrow(x.begin(), x.end());
  check_close(value([&](graph& g) { return f(g.constant(tensor::of<double>({n}, std::span<const double>{x})), here); }),
              {n}, want, 1e-14);
  check_close(
      value([&](graph& g) { return f(g.constant(tensor::of<float>({n}, std::span<const float>{narrow})), here); }), {n},
      want32, epsilon32);
  check_close(value([&](graph& g) { return f(g.constant(f64({1}, {nan})), here); }), {1}, {nan});
  check_close(value([&](graph& g) { return f(g.constant(f32({1}, {static_cast<float>(nan)})), here); }), {1}, {nan});
}

}  // namespace

TEST_CASE("functions of one number are those of the standard library, in both floating types, NaN as well") {
  check_function(
      troupe::exp, [](double x) { return std::exp(x); }, 20);
  check_function(
      troupe::expm1, [](double x) { return std::expm1(x); }, 20);
  check_function(
      troupe::log, [](double x) { return std::log(x); }, 1e6, 1e-9);
  check_function(
      troupe::log1p, [](double x) { return std::log1p(x); }, 1e6, -0.9);
  check_function(
      troupe::sqrt, [](double x) { return std::sqrt(x); }, 1e6, 0);
  check_function(
      troupe::rsqrt, [](double x) { return 1 / std::sqrt(x); }, 1e6, 1e-5);
  check_function(
      troupe::floor, [](double x) { return std::floor(x); }, 100);
  check_function(
      troupe::erf, [](double x) { return std::erf(x); }, 6);
  check_function(
      troupe::tanh, [](double x) { return std::tanh(x); }, 15);
  check_function(
      sigmoid, [](double x) { return 1 / (1 + std::exp(-x)); }, 60);
  check_function(
      softplus, [](double x) { return x > 30 ? x : std::log1p(std::exp(x)); }, 600);
  check_function(
      relu, [](double x) { return x > 0 ? x : 0; }, 10);
  check_function(
      elu, [](double x) { return x > 0 ? x : std::expm1(x); }, 200);
  check_function(
      gelu, [](double x) { return x * 0.5 * std::erfc(-x / std::sqrt(2.0)); }, 8, -inf, 1e-6);
  check_function(
      gelu_tanh, [](double x) { return x / 2 * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }, 8,
      -inf, 1e-6);
  check_function(
      swish, [](double x) { return x / (1 + std::exp(-x)); }, 60);
  check_function([](symbol x, std::source_location at) { return leaky_relu(x, 0.1, at); },
                 [](double x) { return x > 0 ? x : 0.1 * x; }, 10);
}

TEST_CASE("functions keep their digits next to zero in float32") {
  const tensor x = f32({3}, {1e-7f, -3e-6f, 1e-4f});
  const auto close = [&](activation f, double (*formula)(double)) {
    const tensor y = value([&](graph& g) { return f(g.constant(x), here); });
    for (size_t i = 0; i < 3; ++i) {
      const double want = formula(static_cast<double>(x.as<float>()[i]));
      CHECK(std::abs(static_cast<double>(y.as<float>()[i]) / want - 1) < 3e-7);
    }
  };
  close(troupe::expm1, [](double v) { return std::expm1(v); });
  close(troupe::log1p, [](double v) { return std::log1p(v); });
  close(troupe::erf, [](double v) { return std::erf(v); });
  close(troupe::tanh, [](double v) { return std::tanh(v); });
}

TEST_CASE("infinities come out as the limits of the functions") {
  const auto at = [](activation f, double x) {
    return static_cast<double>(
        value([&](graph& g) { return f(g.constant(f32({1}, {static_cast<float>(x)})), here); }).as<float>()[0]);
  };
  CHECK(at(troupe::exp, -inf) == 0);
  CHECK(at(troupe::exp, inf) == inf);
  CHECK(at(troupe::log, 0) == -inf);
  CHECK(at(troupe::log1p, -1) == -inf);
  CHECK(at(troupe::expm1, -inf) == -1);
  CHECK(at(sigmoid, -inf) == 0);
  CHECK(at(sigmoid, inf) == 1);
  CHECK(at(softplus, inf) == inf);
  CHECK(at(softplus, -inf) == 0);
  CHECK(at(elu, inf) == inf);
  CHECK(at(elu, -inf) == -1);
  CHECK(at(troupe::tanh, -inf) == -1);
}

TEST_CASE("functions of two numbers, with NaN and zeros of both signs") {
  const auto of = [](symbol (*f)(symbol, symbol, std::source_location), const tensor& a, const tensor& b) {
    return value([&](graph& g) { return f(g.constant(a), g.constant(b), here); });
  };
  const tensor a = f32({5}, {1, 5, 2, static_cast<float>(nan), 0}), b = f32({5}, {3, 3, 2, 1, static_cast<float>(nan)});
  check_close(of(maximum, a, b), {5}, {3, 5, 2, nan, nan});
  check_close(of(minimum, a, b), {5}, {1, 3, 2, nan, nan});
  check_close(of(troupe::pow, f64({5}, {2, -2, 0, 4, 2}), f64({5}, {3, 2, 0, 0.5, -1})), {5}, {8, 4, 1, 2, 0.5});
  check_close(of(equal, a, b), {5}, {0, 0, 1, 0, 0});
  check_close(of(not_equal, a, b), {5}, {1, 1, 0, 1, 1});
  check_close(of(less, a, b), {5}, {1, 0, 0, 0, 0});
  check_close(of(less_equal, a, b), {5}, {1, 0, 1, 0, 0});
  check_close(of(greater, a, b), {5}, {0, 1, 0, 0, 0});
  check_close(of(greater_equal, a, b), {5}, {0, 1, 1, 0, 0});
  const tensor p = bools({4}, {false, false, true, true}), q = bools({4}, {false, true, false, true});
  check_close(of(logical_and, p, q), {4}, {0, 0, 0, 1});
  check_close(of(logical_or, p, q), {4}, {0, 1, 1, 1});
  check_close(value([&](graph& g) { return logical_not(g.constant(q)); }), {4}, {1, 0, 1, 0});
}

TEST_CASE("integers are added, multiplied and compared, and wrap around at the ends of their range") {
  constexpr int32_t most = std::numeric_limits<int32_t>::max(), least = std::numeric_limits<int32_t>::min();
  const tensor a = i32({3}, {most, least, -7}), b = i32({3}, {1, -1, 3});
  const auto of = [&](auto f) { return value([&](graph& g) { return f(g.constant(a), g.constant(b)); }); };
  CHECK(of([](symbol x, symbol y) { return add(x, y); }) == i32({3}, {least, most, -4}));
  CHECK(of([](symbol x, symbol y) { return sub(x, y); }) == i32({3}, {most - 1, least + 1, -10}));
  CHECK(of([](symbol x, symbol y) { return mul(x, y); }) == i32({3}, {most, least, -21}));
  CHECK(of([](symbol x, symbol y) { return maximum(x, y); }) == i32({3}, {most, -1, 3}));
  CHECK(of([](symbol x, symbol) { return neg(x); }) == i32({3}, {-most, least, 7}));
  CHECK(of([](symbol x, symbol) { return abs(x); }) == i32({3}, {most, least, 7}));
  CHECK(of([](symbol x, symbol) { return sign(x); }) == i32({3}, {1, -1, -1}));
  CHECK(value([&](graph& g) { return square(g.constant(i64({2}, {-3, 1LL << 32}))); }) == i64({2}, {9, 0}));
  CHECK(has(refusal([&](graph& g) { return div(g.constant(a), g.constant(b)); }),
            "div: no such operation on int32 [3] and int32 [3]"));
  CHECK(has(refusal([&](graph& g) { return exp(g.constant(a)); }), "exp: no such operation on int32 [3]"));
  CHECK(has(refusal([&](graph& g) { return logical_and(g.constant(a), g.constant(b)); }), "logical_and"));
}

TEST_CASE("select takes one or the other of any dtype, and all three operands broadcast") {
  const auto of = [](const tensor& c, const tensor& a, const tensor& b) {
    return value([&](graph& g) { return select(g.constant(c), g.constant(a), g.constant(b)); });
  };
  const tensor c = bools({2, 1}, {true, false});
  CHECK(of(c, f32({3}, {1, 2, 3}), f32({}, {9})) == f32({2, 3}, {1, 2, 3, 9, 9, 9}));
  CHECK(of(bools({3}, {true, false, true}), i64({3}, {1, 2, 3}), i64({3}, {4, 5, 6})) == i64({3}, {1, 5, 3}));
  CHECK(of(bools({2, 2}, {true, false, false, true}), bools({}, {true}), bools({2, 2}, {false, false, false, false}))
        == bools({2, 2}, {true, false, false, true}));
  CHECK(has(refusal([&](graph& g) { return select(g.constant(f32({}, {1})), g.constant(c), g.constant(c)); }),
            "must be boolean"));
  CHECK(refusal([&](graph& g) {
          return select(g.constant(c), g.constant(f32({2}, {1, 2})), g.constant(f32({3}, {1, 2, 3})));
        }).find("do not broadcast")
        != std::string::npos);
}

TEST_CASE("clip keeps what is inside, and NaN") {
  check_close(value([&](graph& g) {
                return clip(g.constant(f32({4}, {-2, 0.5f, 3, static_cast<float>(nan)})), -1, 1);
              }),
              {4}, {-1, 0.5, 1, nan});
  CHECK(
      has(refusal([&](graph& g) { return clip(g.constant(f32({1}, {1})), 2, 1); }), "least must be at most greatest"));
}

TEST_CASE("operations on nothing yield nothing") {
  const tensor none = tensor::zeros(dtype::float32, {0, 3});
  check_close(value([&](graph& g) { return relu(g.constant(none)); }), {0, 3}, {});
  check_close(value([&](graph& g) { return add(g.constant(none), g.constant(f32({3}, {1, 2, 3}))); }), {0, 3}, {});
  check_close(value([&](graph& g) { return reduce_sum(g.constant(none), {{0}}); }), {3}, {0, 0, 0});
  check_close(value([&](graph& g) {
                return matmul(g.constant(tensor::zeros(dtype::float32, {2, 0})), g.constant(none));
              }),
              {2, 3}, {0, 0, 0, 0, 0, 0});
}

}  // namespace troupe
