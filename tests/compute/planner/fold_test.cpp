#include "compute/planner/program_draft.hpp"
#include "tests/compute/operations/values.hpp"

#include <bit>
#include <limits>

namespace troupe {

using namespace test;

namespace {

template <class T>
std::vector<T> dividends(T by) {
  std::vector<T> x;
  for (int k = 0; k < 100; ++k)
    x.push_back(static_cast<T>(k) * by);
  for (double v : numbers(noise<T>({200}, 5)))
    x.push_back(static_cast<T>(v));
  for (T v : {std::numeric_limits<T>::infinity(), std::numeric_limits<T>::max(), -std::numeric_limits<T>::max(),
              T(-0.0), T(1e-30)})
    x.push_back(v);
  return x;
}

/// Checks x / c where c is known at planning: as a scalar, as a full tensor, and as a number.
template <class T>
void check_quotients(T c) {
  const auto x = dividends(c);
  const shape dims{static_cast<int64_t>(x.size())};
  const tensor dividend = tensor::of<T>(dims, std::span<const T>{x});
  std::vector<T> everywhere(x.size(), c);
  const tensor scalar = tensor::scalar(c), spread = tensor::of<T>(dims, std::span<const T>{everywhere});
  for (const auto& divide :
       {std::function<symbol(graph&, symbol)>{[&](graph&g, symbol a) { return div(a, g.constant(scalar)); }},
        {[&](graph&g, symbol a) { return div(a, g.constant(spread)); }},
        {[&](graph&, symbol a) { return a / static_cast<double>(c); }}}) {
    const tensor y = value([&](graph& g) { return divide(g, g.constant(dividend)); });
    for (size_t i = 0; i < x.size(); ++i) {
      const T right = x[i] / c, got = y.as<T>()[i];
      const bool zero = std::abs(right) < std::numeric_limits<T>::min();
      CHECK_MESSAGE((zero                ? got == 0
                     : std::isnan(right) ? std::isnan(got)
                                         : got == right),
                    x[i], " / ", c, ": ", got, " for ", right);
    }
  }
}

}  // namespace

TEST_CASE_TEMPLATE("a quotient by a constant is the correctly rounded one, whatever the constant", T, float, double) {
  for (int c = 1; c < 130; ++c)
    check_quotients(static_cast<T>(c));
  for (T c : {T(0.1), T(-3), T(1e-20), T(7e30), std::numeric_limits<T>::max(), std::numeric_limits<T>::min(),
              std::ldexp(T{1}, 127), std::ldexp(T{1}, -126), std::numeric_limits<T>::infinity(), T{0}})
    check_quotients(c);
}

TEST_CASE("a floor of a quotient of equal numbers is 1") {
  for (int c = 1; c < 1000; ++c) {
    const tensor y = value([&](graph& g) {
      return troupe::floor(g.constant(f32({2}, {static_cast<float>(c), static_cast<float>(3 * c)})) / c);
    });
    CHECK_MESSAGE(y == f32({2}, {1, 3}), c);
  }
}

TEST_CASE("arithmetic on numbers that are known while planning has the bits of arithmetic in the dtype") {
  const auto of = [](auto build) {
    return value([&](graph& g) {
             const auto number = [&](float x) {
               return fill(g, static_cast<double>(x), dtype::float32, {3}, std::source_location::current());
             };
             return build(number);
           })
        .template as<float>()[0];
  };
  const float third = 1.0f / 3, sum = 0.1f + 0.2f;
  CHECK(of([](auto n) { return sub(mul(div(n(1), n(3)), n(3e7f)), n(1e7f)); }) == third * 3e7f - 1e7f);
  CHECK(of([](auto n) { return sub(add(n(0.1f), n(0.2f)), n(0.3f)); }) == sum - 0.3f);
  CHECK(of([](auto n) { return mul(square(n(1e-25f)), n(1e30f)); }) == 0);
  CHECK(of([](auto n) { return div(n(1), neg(square(n(1e-25f)))); }) == -std::numeric_limits<float>::infinity());
  CHECK(of([](auto n) { return sub(scale(n(3), 0.1), n(0.3f)); }) == 3 * 0.1f - 0.3f);
  CHECK(of([](auto n) { return div(square(n(1e25f)), n(1e30f)); }) == std::numeric_limits<float>::infinity());
}

TEST_CASE("zeros of both signs are not one number everywhere") {
  const tensor y = value([](graph& g) {
    return div(fill(g, 1, dtype::float32, {2}, std::source_location::current()), g.constant(f32({2}, {0.0f, -0.0f})));
  });
  CHECK(y.as<float>()[0] == std::numeric_limits<float>::infinity());
  CHECK(y.as<float>()[1] == -std::numeric_limits<float>::infinity());
}

}  // namespace troupe
