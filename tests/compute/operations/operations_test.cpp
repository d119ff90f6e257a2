#include "compute/graph/operation.hpp"
#include "tests/compute/evaluate.hpp"
#include "tests/support/has.hpp"

#include <cmath>
#include <numeric>

namespace troupe {

using namespace test;

namespace {

tensor f64(const shape& dims, std::initializer_list<double> x) { return tensor::of<double>(dims, x); }
tensor f32(const shape& dims, std::initializer_list<float> x) { return tensor::of<float>(dims, x); }

/// The value of an expression over constants.
tensor value(const std::function<symbol(graph&)>& build) { return evaluate(build); }

void check_close(const tensor& got, const shape& dims, std::initializer_list<double> want) {
  CHECK(to_text(got.dims()) == to_text(dims));
  REQUIRE(got.elements() == static_cast<int64_t>(want.size()));
  size_t i = 0;
  for (double w : want) {
    const double g = got.type() == dtype::float64   ? got.as<double>()[i]
                     : got.type() == dtype::float32 ? static_cast<double>(got.as<float>()[i])
                     : got.type() == dtype::int64   ? static_cast<double>(got.as<int64_t>()[i])
                                                    : static_cast<double>(got.as<bool>()[i]);
    if (std::isnan(w))
      CHECK(std::isnan(g));
    else
      CHECK(g == doctest::Approx(w).epsilon(1e-6));
    ++i;
  }
}

}  // namespace

TEST_CASE("a product is the sum of products, in every orientation") {
  const tensor a = f64({2, 3}, {1, 2, 3, 4, 5, 6}), b = f64({3, 2}, {7, 8, 9, 10, 11, 12});
  const tensor at = f64({3, 2}, {1, 4, 2, 5, 3, 6}), bt = f64({2, 3}, {7, 9, 11, 8, 10, 12});
  for (bool ta : {false, true})
    for (bool tb : {false, true})
      check_close(value([&](graph& g) {
                    return matmul(g.constant(ta ? at : a), g.constant(tb ? bt : b), {ta, tb});
                  }),
                  {2, 2}, {58, 64, 139, 154});
}

TEST_CASE("products of every size agree with plain loops in float64") {
  for (int64_t m : {1, 2, 3, 5, 6, 7, 13, 32, 250})
    for (int64_t n : {1, 2, 3, 7, 8, 9, 10, 16, 17, 31, 128})
      for (int64_t k : {1, 3, 32, 257, 600}) {
        if (m * n * k > 1 << 20)
          continue;
        const tensor a = noise<double>({m, k}, 1), b = noise<double>({k, n}, 2), at = noise<double>({k, m}, 1),
                     bt = noise<double>({n, k}, 2);
        for (bool ta : {false, true})
          for (bool tb : {false, true}) {
            const tensor& x = ta ? at : a;
            const tensor& y = tb ? bt : b;
            const tensor c = value([&](graph& g) { return matmul(g.constant(x), g.constant(y), {ta, tb}); });
            double worst = 0;
            for (int64_t i = 0; i < m; ++i)
              for (int64_t j = 0; j < n; ++j) {
                double sum = 0;
                for (int64_t p = 0; p < k; ++p)
                  sum += x.as<double>()[static_cast<size_t>(ta ? p * m + i : i * k + p)]
                         * y.as<double>()[static_cast<size_t>(tb ? j * k + p : p * n + j)];
                worst = std::max(worst, std::abs(sum - c.as<double>()[static_cast<size_t>(i * n + j)]));
              }
            REQUIRE(worst < 1e-11);
          }
      }
}

TEST_CASE("a row of a product has the same bits whatever rows are beside it") {
  const tensor a = noise<float>({37, 300}, 1), b = noise<float>({300, 19}, 2);
  const tensor all = value([&](graph& g) { return matmul(g.constant(a), g.constant(b)); });
  for (int64_t i : {0, 5, 36}) {
    const tensor one = value([&](graph& g) { return matmul(g.constant(a.slice(i, 1)), g.constant(b)); });
    CHECK(std::memcmp(one.data(), all.slice(i, 1).data(), 19 * 4) == 0);
  }
}

TEST_CASE("shapes broadcast from the last axis") {
  const tensor a = f64({2, 3}, {1, 2, 3, 4, 5, 6});
  check_close(value([&](graph& g) {
                return g.constant(a) + g.constant(f64({3}, {10, 20, 30}));
              }),
              {2, 3}, {11, 22, 33, 14, 25, 36});
  check_close(value([&](graph& g) {
                return g.constant(f64({2, 1}, {10, 20})) - g.constant(a);
              }),
              {2, 3}, {9, 8, 7, 16, 15, 14});
  check_close(value([&](graph& g) { return g.constant(a) * g.constant(f64({}, {2})); }), {2, 3}, {2, 4, 6, 8, 10, 12});
  check_close(value([&](graph& g) {
                return g.constant(f64({2, 1}, {1, 2})) / g.constant(f64({1, 2}, {4, 8}));
              }),
              {2, 2}, {0.25, 0.125, 0.5, 0.25});
  check_close(value([&](graph& g) {
                return g.constant(f64({2, 1, 2}, {1, 2, 3, 4})) + g.constant(f64({3, 1}, {10, 20, 30}));
              }),
              {2, 3, 2}, {11, 12, 21, 22, 31, 32, 13, 14, 23, 24, 33, 34});
}

TEST_CASE("element-wise functions have their textbook values in both floating types") {
  const double nan = std::nan("");
  const auto both = [&](symbol (*f)(symbol, std::source_location), std::initializer_list<double> x,
                        std::initializer_list<double> want) {
    const auto n = static_cast<int64_t>(x.size());
    const std::vector<float> narrow(x.begin(), x.end());
    check_close(value([&](graph& g) { return f(g.constant(f64({n}, x)), std::source_location::current()); }), {n},
                want);
    check_close(value([&](graph& g) {
                  return f(g.constant(tensor::of<float>({n}, std::span<const float>{narrow})),
                           std::source_location::current());
                }),
                {n}, want);
  };
  both(neg, {1, -2}, {-1, 2});
  both(exp, {0, 1, -1}, {1, std::exp(1.0), std::exp(-1.0)});
  both(log, {1, 2, 10}, {0, std::log(2.0), std::log(10.0)});
  both(sqrt, {4, 2}, {2, std::sqrt(2.0)});
  both(square, {3, -2}, {9, 4});
  both(abs, {3, -2}, {3, 2});
  both(relu, {3, -2, 0, nan}, {3, 0, 0, nan});
  both(sigmoid, {0, 2, -2}, {0.5, 1 / (1 + std::exp(-2.0)), 1 / (1 + std::exp(2.0))});
  both(tanh, {0, 1, -3}, {0, std::tanh(1.0), std::tanh(-3.0)});
  check_close(value([&](graph& g) { return scale(g.constant(f32({2}, {1, 2})), -0.5); }), {2}, {-0.5, -1});
  check_close(value([&](graph& g) {
                return maximum(g.constant(f32({3}, {1, 5, 2})), g.constant(f32({3}, {3, 3, 2})));
              }),
              {3}, {3, 5, 2});
  check_close(value([&](graph& g) {
                return minimum(g.constant(f32({3}, {1, 5, 2})), g.constant(f32({3}, {3, 3, 2})));
              }),
              {3}, {1, 3, 2});
  check_close(value([&](graph& g) {
                return equal(g.constant(f32({3}, {1, 5, 2})), g.constant(f32({}, {5})));
              }),
              {3}, {0, 1, 0});
}

TEST_CASE("casts keep what fits and clamp what does not") {
  const tensor x = f64({4}, {1.9, -3e10, 3e10, std::nan("")});
  const tensor y = value([&](graph& g) { return cast(g.constant(x), dtype::int32); });
  CHECK(std::vector<int32_t>(y.as<int32_t>().begin(), y.as<int32_t>().end())
        == std::vector<int32_t>{1, INT32_MIN, INT32_MAX, 0});
  const uint8_t bytes[2] = {0, 255};
  check_close(value([&](graph& g) {
                return cast(g.constant(tensor::of<uint8_t>({2}, std::span<const uint8_t>{bytes})), dtype::float32);
              }),
              {2}, {0, 255});
}

TEST_CASE("reductions over any axes give the sums by hand") {
  const tensor x = f64({2, 3, 2}, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12});
  const auto sum = [&](std::vector<int> axes, bool keep = false) {
    return value([&](graph& g) { return reduce_sum(g.constant(x), {axes, keep}); });
  };
  check_close(sum({}), {}, {78});
  check_close(sum({0}), {3, 2}, {8, 10, 12, 14, 16, 18});
  check_close(sum({1}), {2, 2}, {9, 12, 27, 30});
  check_close(sum({-1}), {2, 3}, {3, 7, 11, 15, 19, 23});
  check_close(sum({0, 2}), {3}, {18, 26, 34});
  check_close(sum({0, 2}, true), {1, 3, 1}, {18, 26, 34});
  check_close(value([&](graph& g) { return reduce_mean(g.constant(x), {{0, 1}}); }), {2}, {6, 7});
  check_close(value([&](graph& g) { return reduce_max(g.constant(x), {{1}}); }), {2, 2}, {5, 6, 11, 12});
  check_close(value([&](graph& g) { return argmax(g.constant(f32({2, 3}, {1, 7, 7, 9, 2, 3}))); }), {2}, {1, 0});
  check_close(value([&](graph& g) { return argmax(g.constant(x), 0); }), {3, 2}, {1, 1, 1, 1, 1, 1});
}

TEST_CASE("a long sum in float32 keeps six digits") {
  std::vector<float> x(1000003, 0.1f);
  const tensor t = tensor::of<float>({static_cast<int64_t>(x.size())}, std::span<const float>{x});
  check_close(value([&](graph& g) { return reduce_sum(g.constant(t)); }), {}, {1000003 * static_cast<double>(0.1f)});
}

TEST_CASE("softmax does not overflow and sums to one") {
  const double e = std::exp(-1.0);
  check_close(value([&](graph& g) {
                return softmax(g.constant(f32({2, 2}, {1000, 999, -1000, -1000})));
              }),
              {2, 2}, {1 / (1 + e), e / (1 + e), 0.5, 0.5});
  check_close(value([&](graph& g) {
                return log_softmax(g.constant(f64({1, 2}, {1000, 999})));
              }),
              {1, 2}, {-std::log(1 + e), -1 - std::log(1 + e)});
  const tensor p = value([&](graph& g) { return reduce_sum(softmax(g.constant(noise<float>({5, 37}, 3))), {{-1}}); });
  check_close(p, {5}, {1, 1, 1, 1, 1});
}

TEST_CASE("cross-entropy takes labels of every integer type") {
  const tensor logits = f32({3, 2}, {0, 0, 1000, 0, 0, 1});
  const auto with = [&](const tensor& y) {
    return value([&](graph& g) { return sparse_softmax_cross_entropy(g.constant(y), g.constant(logits)); });
  };
  const std::initializer_list<double> want = {std::log(2.0), 1000, std::log(1 + std::exp(-1.0))};
  check_close(with(tensor::of<int32_t>({3}, {1, 1, 1})), {3}, want);
  check_close(with(tensor::of<int64_t>({3}, {1, 1, 1})), {3}, want);
  check_close(with(tensor::of<uint8_t>({3}, {1, 1, 1})), {3}, want);
}

TEST_CASE("cross-entropy of any number of rows and classes is that of log_softmax") {
  for (int64_t rows : {1, 7, 8, 21})
    for (int64_t count : {1, 2, 10, 32, 33, 100}) {
      const tensor x = noise<float>({rows, count}, 3), y = classes(rows, count);
      const tensor got = value([&](graph& g) { return sparse_softmax_cross_entropy(g.constant(y), g.constant(x)); });
      const tensor log_p = value([&](graph& g) { return log_softmax(g.constant(x)); });
      const tensor dx = value([&](graph& g) {
        return cross_entropy_gradient(g.constant(x), g.constant(y), fill(g, 0.5, dtype::float32, {rows}, {}), {});
      });
      for (int64_t i = 0; i < rows; ++i) {
        const int32_t label = y.as<int32_t>()[static_cast<size_t>(i)];
        const auto row = log_p.slice(i, 1), d = dx.slice(i, 1);
        REQUIRE(got.as<float>()[static_cast<size_t>(i)]
                == doctest::Approx(-row.as<float>()[static_cast<size_t>(label)]).scale(1).epsilon(1e-6));
        for (int64_t j = 0; j < count; ++j)
          REQUIRE(d.as<float>()[static_cast<size_t>(j)]
                  == doctest::Approx(
                         0.5 * (std::exp(static_cast<double>(row.as<float>()[static_cast<size_t>(j)])) - (j == label)))
                         .scale(1)
                         .epsilon(1e-6));
      }
    }
}

TEST_CASE("reshape keeps the elements and infers one extent") {
  const tensor x = f64({2, 3}, {1, 2, 3, 4, 5, 6});
  check_close(value([&](graph& g) { return reshape(g.constant(x), {3, -1}); }), {3, 2}, {1, 2, 3, 4, 5, 6});
  graph g;
  const extent batch = g.unknown("batch");
  const symbol images = g.placeholder("images", dtype::float32, {batch, 28, 28});
  CHECK(reshape(images, {batch, -1}).dims() == symbol_shape{batch, 784});
  CHECK(reshape(images, {-1, 14}).dims() == symbol_shape{extent::of_unknown(0, 56), 14});
  CHECK(g.status());
}

TEST_CASE("parts stand side by side along the last axis, and slices find them there again") {
  const tensor a = f64({2, 1}, {1, 2}), b = f64({2, 3}, {3, 4, 5, 6, 7, 8});
  const auto all = [&](graph& g) { return concat(std::vector{g.constant(a), g.constant(b), g.constant(a)}); };
  check_close(value(all), {2, 5}, {1, 3, 4, 5, 1, 2, 6, 7, 8, 2});
  check_close(value([&](graph& g) { return slice(all(g), -1, 1, 3); }), {2, 3}, {3, 4, 5, 6, 7, 8});
  check_close(value([&](graph& g) { return slice(all(g), 1, 4, 1); }), {2, 1}, {1, 2});
  CHECK(value([&](graph& g) {
          return concat(
              std::vector{g.constant(tensor::of<bool>({1}, {true})), g.constant(tensor::of<bool>({2}, {false, true}))});
        })
        == tensor::of<bool>({3}, {true, false, true}));
  CHECK_FALSE(concat({}).valid());
}

TEST_CASE("parts that do not fit, and slices that are not there, are errors with the shapes") {
  const auto message = [](const std::function<symbol(graph&)>& build) {
    graph g;
    CHECK_FALSE(build(g).valid());
    return g.status() ? "" : g.status().error().message;
  };
  const auto zeros = [](graph& g, dtype type, const shape& dims) { return g.constant(tensor::zeros(type, dims)); };
  CHECK(has(message([&](graph& g) {
              return concat(std::vector{zeros(g, dtype::float32, {2, 1}), zeros(g, dtype::float32, {3, 1})});
            }),
            "float32 [2, 1] and float32 [3, 1] must be of one dtype and shape but for the extent of axis -1"));
  CHECK(message([&](graph& g) {
          return concat(std::vector{zeros(g, dtype::float32, {2}), zeros(g, dtype::float64, {2})});
        }).find("float64 [2]")
        != std::string::npos);
  CHECK(message([&](graph& g) {
          return concat(std::vector{zeros(g, dtype::float32, {}), zeros(g, dtype::float32, {})});
        }).find("must be of one")
        != std::string::npos);
  for (const auto& [first, count] : {std::pair{-1, 2}, {0, -1}, {3, 1}, {1, 3}})
    CHECK(has(message([&, first = first, count = count](graph& g) {
                return slice(zeros(g, dtype::float32, {2, 3}), 1, first, count);
              }),
              "are not all elements of float32 [2, 3]"));
}

TEST_CASE("dropout keeps about 1 - rate of the elements and their mean") {
  const std::vector<float> ones(100000, 1.0f);
  const tensor x = tensor::of<float>({100000}, std::span<const float>{ones});
  const tensor y = value([&](graph& g) { return dropout(g.constant(x), 0.3, true); });
  int64_t kept = 0;
  for (float v : y.as<float>()) {
    REQUIRE((v == 0 || v == doctest::Approx(1 / 0.7)));
    kept += v != 0;
  }
  CHECK(kept == doctest::Approx(70000).epsilon(0.01));
  graph g;
  const symbol s = g.placeholder("s", dtype::float32, {3});
  CHECK(dropout(s, 0.5, false).node() == s.node());
}

}  // namespace troupe
