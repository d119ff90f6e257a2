#include "compute/graph/operation.hpp"
#include "tests/compute/operations/values.hpp"
#include "tests/support/has.hpp"

#include <limits>

namespace troupe {

using namespace test;

namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), inf = std::numeric_limits<double>::infinity();
const tensor box = f64({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});

}  // namespace

TEST_CASE("the least, the most and the product over any axes") {
  const auto of = [](auto f, const tensor& x, std::vector<int> axes, bool keep = false) {
    return value([&](graph& g) { return f(g.constant(x), reduce_options{axes, keep}); });
  };
  const auto least = [](symbol x, reduce_options o) { return reduce_min(x, o); };
  const auto most = [](symbol x, reduce_options o) { return reduce_max(x, o); };
  const auto product = [](symbol x, reduce_options o) { return reduce_prod(x, o); };
  check_close(of(least, box, {1}), {2, 2}, {1, 2, 7, 8});
  check_close(of(least, box, {0, 2}, true), {1, 3, 1}, {1, 3, 5});
  check_close(of(most, box, {-1}), {2, 3}, {2, 4, 6, 8, 10, 12});
  check_close(of(product, box, {1}), {2, 2}, {15, 48, 693, 960});
  check_close(of(product, box, {0, 2}, true), {1, 3, 1}, {112, 1080, 3960});
  check_close(of(product, box, {}), {}, {479001600});
  check_close(of(least, f64({3}, {2, nan, 1}), {}), {}, {nan});
  check_close(of(most, f64({2, 2}, {nan, 1, 2, 3}), {0}), {2}, {nan, 3});
  CHECK(of(least, i32({4}, {3, -5, 9, 0}), {}) == i32({}, {-5}));
  CHECK(of(most, i64({2, 2}, {3, -5, 9, 0}), {1}) == i64({2}, {3, 9}));
  CHECK(of(product, i64({2, 2}, {3, -5, 9, 0}), {1}) == i64({2}, {-15, 0}));
  CHECK(value([&](graph& g) {
          return reduce_sum(g.constant(i32({2, 2}, {3, -5, 9, 0})), {{0}});
        })
        == i32({2}, {12, -5}));
}

TEST_CASE("logsumexp is that of the sum, wherever the numbers lie") {
  const auto of = [](const tensor& x) {
    return value([&](graph& g) { return reduce_logsumexp(g.constant(x), {{-1}}); });
  };
  check_close(of(f64({2, 2}, {0, 0, 1, 3})), {2}, {std::log(2.0), std::log(std::exp(1.0) + std::exp(3.0))}, 1e-15);
  check_close(of(f32({3, 2}, {1000, 1000, -1000, -1000, 1000, -1000})), {3},
              {1000 + std::log(2.0), -1000 + std::log(2.0), 1000}, 1e-7);
  check_close(of(f64({3, 2}, {-inf, -inf, -inf, 5, inf, 5})), {3}, {-inf, 5, inf});
  check_close(of(f64({1, 2}, {nan, 1})), {1}, {nan});
  check_close(value([&](graph& g) {
                return reduce_logsumexp(g.constant(f64({2, 2}, {0, 1, 2, 3})), {{0}, true});
              }),
              {1, 2}, {std::log(1 + std::exp(2.0)), std::log(std::exp(1.0) + std::exp(3.0))}, 1e-14);
}

TEST_CASE("the mean of equal numbers is that number, over any axes and of any count, in windows as well") {
  for (int64_t n = 1; n < 150; ++n)
    for (const auto& [dims, axes] : {std::pair{shape{n}, std::vector<int>{0}},
                                     {{n, 3}, {0}},
                                     {{2, n, 3}, {1}},
                                     {{3, n}, {1}},
                                     {{n, 2, n}, {0, 2}}}) {
      const tensor ones = tensor::of<float>(
          dims, std::span<const float>{std::vector<float>(static_cast<size_t>(dims.elements()), 1.0f)});
      for (double m : numbers(value([&](graph& g) { return reduce_mean(g.constant(ones), {axes}); })))
        CHECK_MESSAGE(m == 1, n, " ones: ", m);
    }
  for (int64_t size = 1; size < 12; ++size) {
    const shape dims{1, size, size, 1};
    const tensor ones = tensor::of<float>(
        dims, std::span<const float>{std::vector<float>(static_cast<size_t>(dims.elements()), 1.0f)});
    CHECK(value([&](graph& g) {
            return average_pool(g.constant(ones), {.size = {size, size}, .strides = {1, 1}});
          })
          == f32({1, 1, 1, 1}, {1}));
  }
}

TEST_CASE("sums and means of many equal numbers in float32 keep their digits, over any axes, and running sums too") {
  constexpr int64_t n = 1 << 19;
  const auto close = [](double got, double right) {
    CHECK_MESSAGE(std::abs(got / right - 1) <= 1e-6, got, " for ", right);
  };
  for (float x : {1.0f, 0.1f}) {
    const auto filled = [&](const shape& dims) {
      return tensor::of<float>(dims,
                               std::span<const float>{std::vector<float>(static_cast<size_t>(dims.elements()), x)});
    };
    const double total = static_cast<double>(n) * static_cast<double>(x);
    for (const auto& [dims, axes] : {std::pair{shape{n, 3}, std::vector<int>{0}},
                                     {{2, n, 2}, {1}},
                                     {{2, n}, {1}},
                                     {{n}, {}},
                                     {{1024, 3, n / 1024}, {0, 2}},
                                     {{n / 8, 2, 8, 2}, {0, 2}}}) {
      for (double sum : numbers(value([&](graph& g) { return reduce_sum(g.constant(filled(dims)), {axes}); })))
        close(sum, total);
      for (double mean : numbers(value([&](graph& g) { return reduce_mean(g.constant(filled(dims)), {axes}); })))
        close(mean, static_cast<double>(x));
    }
    const int64_t side = 1 << 9;
    for (double mean : numbers(value([&](graph& g) {
           return average_pool(g.constant(filled({1, side, side, 2})), {.size = {side, side}});
         })))
      close(mean, static_cast<double>(x));
    for (const shape& dims : {shape{n}, {n, 2}})
      close(numbers(value([&](graph& g) { return cumsum(g.constant(filled(dims)), 0); })).back(), total);
    close(numbers(value([&](graph& g) {
            return log_softmax(g.constant(filled({1, n})));
          })).front(),
          -std::log(static_cast<double>(n)));
  }
}

TEST_CASE("the place of the least and of the most is that of the first of equals, and of a NaN before all") {
  const tensor x = f32({2, 4}, {3, 1, 1, 3, 2, static_cast<float>(nan), 9, -1});
  check_close(value([&](graph& g) { return argmax(g.constant(x)); }), {2}, {0, 1});
  check_close(value([&](graph& g) { return argmin(g.constant(x)); }), {2}, {1, 1});
  check_close(value([&](graph& g) { return argmin(g.constant(i32({3, 2}, {4, 4, 3, 5, 4, 1})), 0); }), {2}, {1, 2});
}

TEST_CASE("running sums in both directions, with and without the element itself") {
  const tensor x = f64({2, 3}, {1, 2, 3, 10, 20, 30});
  const auto of = [&](int axis, bool exclusive, bool reverse) {
    return value([&](graph& g) { return cumsum(g.constant(x), axis, {exclusive, reverse}); });
  };
  check_close(of(1, false, false), {2, 3}, {1, 3, 6, 10, 30, 60});
  check_close(of(-1, true, false), {2, 3}, {0, 1, 3, 0, 10, 30});
  check_close(of(1, false, true), {2, 3}, {6, 5, 3, 60, 50, 30});
  check_close(of(1, true, true), {2, 3}, {5, 3, 0, 50, 30, 0});
  check_close(of(0, false, false), {2, 3}, {1, 2, 3, 11, 22, 33});
  CHECK(has(refusal([&](graph& g) { return cumsum(g.constant(x), 2); }), "there is no axis 2 of float64 [2, 3]"));
}

TEST_CASE("reductions refuse axes that are not there") {
  CHECK(refusal([&](graph& g) {
          return reduce_min(g.constant(box), {{3}});
        }).find("reduce_min: axes {3} are not distinct axes of [2, 3, 2]")
        != std::string::npos);
  CHECK(has(refusal([&](graph& g) { return reduce_prod(g.constant(box), {{1, -2}}); }), "reduce_prod: axes {1, -2}"));
  CHECK(has(refusal([&](graph& g) {
              return reduce_logsumexp(g.constant(i32({2}, {1, 2})));
            }),
            "no such operation on int32 [2]"));
}

}  // namespace troupe
