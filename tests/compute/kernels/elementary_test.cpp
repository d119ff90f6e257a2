#include "compute/kernels/elementary.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace troupe {

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

/// The difference in units of the last place of `want`, with 53 bits of mantissa.
double units(double got, double want) {
  if (got == want || (got != got && want != want))
    return 0;
  int exponent = 0;
  static_cast<void>(std::frexp(want, &exponent));
  return std::abs(got - want) / std::ldexp(1.0, std::max(exponent, -1021) - 53);
}

/// Numbers of both signs with magnitudes from `least` to `greatest`.
std::vector<double> points(double least, double greatest) {
  std::vector<double> x;
  for (double v = least; v <= greatest; v *= 1.0173)
    x.insert(x.end(), {v, -v});
  return x;
}

void check(double (*got)(double), double (*want)(double), const std::vector<double>& at, double units_most) {
  double worst = 0, where = 0;
  for (double x : at)
    if (const double u = units(got(x), want(x)); u > worst || u != u) {
      worst = u;
      where = x;
    }
  CAPTURE(where);
  CHECK(worst <= units_most);
}

std::vector<double> above(std::vector<double> x, double least) {
  std::erase_if(x, [least](double v) { return v < least; });
  return x;
}

}  // namespace

TEST_CASE("elementary functions are within a few units in the last place of the C library's") {
  namespace e = elementary;
  check(
      e::exp, [](double x) { return std::exp(x); }, points(1e-9, 700), 3);
  check(
      e::expm1, [](double x) { return std::expm1(x); }, points(1e-9, 700), 6);
  check(
      e::log, [](double x) { return std::log(x); }, above(points(1e-300, 1e300), 0), 3);
  check(
      e::log1p, [](double x) { return std::log1p(x); }, above(points(1e-9, 1e9), -0.999), 6);
  check(
      e::tanh, [](double x) { return std::tanh(x); }, points(1e-9, 40), 8);
  check(
      e::erf, [](double x) { return std::erf(x); }, points(1e-9, 7), 16);
  check(
      e::sin, [](double x) { return std::sin(x); }, points(1e-9, 0x1p20), 1);
  check(
      e::cos, [](double x) { return std::cos(x); }, points(1e-9, 0x1p20), 1);
}

TEST_CASE("powers are those of the C library in both types, of negative bases and the special ones too") {
  namespace e = elementary;
  double worst = 0, worst32 = 0;
  for (double x : points(1e-5, 1e5))
    for (double y : {-7.0, -2.0, -0.5, 0.3, 1.0, 1.5, 2.0, 3.0, 11.0}) {
      worst = std::max(worst, units(e::pow(x, y), std::pow(x, y)));
      const auto a = static_cast<float>(x), b = static_cast<float>(y);
      const double want = std::pow(static_cast<double>(a), static_cast<double>(b)),
                   got = static_cast<double>(e::pow(a, b));
      if (want == want && std::abs(want) > 1e-37 && std::abs(want) < 1e38)
        worst32 = std::max(worst32, std::abs(got / want - 1));
    }
  CHECK(worst <= 3);
  CHECK(worst32 < 1.2e-7);
  CHECK(e::pow(0.0, 0.0) == 1);
  CHECK(e::pow(0.0, 2.0) == 0);
  CHECK(e::pow(0.0, -1.0) == inf);
  CHECK(e::pow(-2.0, 3.0) == -8);
  for (double y : {-3.0, -1.0, 1.0, 3.0})  // Odd powers of -0 keep its sign.
    CHECK(1 / e::pow(-0.0f, static_cast<float>(y)) == 1 / std::pow(-0.0, y));
  for (double y : {-2.0, -0.5, 0.5, 2.0, 1e300, inf})
    CHECK_FALSE(std::signbit(e::pow(-0.0, y)));
  CHECK(std::isnan(e::pow(-2.0, 0.5)));
  for (int64_t n : {0, 1, 2, 7, 200, 12345})
    CHECK(e::power(0.999, n) == doctest::Approx(std::pow(0.999, static_cast<double>(n))).epsilon(1e-12));
}

TEST_CASE("elementary functions keep what is no ordinary number, and the sign of zero") {
  namespace e = elementary;
  for (auto* f : {static_cast<double (*)(double)>(e::exp), e::expm1, static_cast<double (*)(double)>(e::log), e::log1p,
                  e::tanh, e::erf, e::sin, e::cos})
    CHECK(std::isnan(f(nan)));
  CHECK(e::exp(-inf) == 0);
  CHECK(e::exp(inf) == inf);
  CHECK(e::expm1(-inf) == -1);
  CHECK(e::expm1(inf) == inf);
  CHECK(e::log(0.0) == -inf);
  CHECK(e::log(inf) == inf);
  CHECK(std::isnan(e::log(-1.0)));
  CHECK(e::log1p(-1.0) == -inf);
  CHECK(e::tanh(inf) == 1);
  CHECK(e::tanh(-inf) == -1);
  CHECK(e::erf(-inf) == -1);
  CHECK(std::isnan(e::sin(inf)));
  CHECK(std::isnan(e::cos(-inf)));
  for (auto* f : {static_cast<double (*)(double)>(e::expm1), e::log1p, e::tanh, e::erf, e::sin})
    CHECK(std::signbit(f(-0.0)));
}

}  // namespace troupe
