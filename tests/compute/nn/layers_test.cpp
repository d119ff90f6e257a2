#include "tests/compute/nn/run_layer.hpp"
#include "tests/support/has.hpp"

#include <troupe/nn.hpp>

namespace troupe {

using namespace test;
using strings = std::vector<std::string>;

TEST_CASE("a dense layer of three axes is that of its rows") {
  const tensor x = noise<double>({2, 3, 4}, 1);
  const auto run = run_layer(
      [&](graph& g) { return nn::dense(g.constant(x), {.units = 5, .activation = troupe::tanh}); });
  auto want = plus_rows(product(numbers(x), run.of("dense/kernel"), 6, 4, 5), run.of("dense/bias"));
  for (double& v : want)
    v = std::tanh(v);
  check_close(run.value(), {2, 3, 5}, want, 1e-14);
  check_layer_gradients({{2, 3, 4}}, [](graph&, const std::vector<symbol>& in) {
    return nn::dense(in[0], {.units = 2, .activation = sigmoid});
  });
}

TEST_CASE("a dense layer of three axes takes its bias and relu into one product, as that of two does") {
  graph g;
  model_spec spec;
  spec.mode = mode::predict;
  spec.predictions["y"] = nn::dense(g.placeholder("x", dtype::float32, {g.unknown("batch"), 3, 4}),
                                    {.units = 5, .activation = relu});
  const auto p = program::make(g, spec, *parameter_layout::of(g, std::nullopt), {.batch = 2});
  REQUIRE(p);
  const std::string text = (*p)->to_text();
  CHECK(has(text, " 1 kernels, "));
  CHECK(has(text, "\nmatmul +bias +relu\n"));
}

TEST_CASE("an embedding yields the row of each index, and its gradient adds up what meets in a row") {
  const auto run = run_layer([](graph& g) {
    return nn::embedding(g.constant(i32({2, 3}, {0, 3, 1, 3, 3, 2})),
                         {.entries = 4, .units = 2, .type = dtype::float64});
  });
  const auto rows = run.of("embedding/embeddings");
  vec want;
  for (size_t i : {0, 3, 1, 3, 3, 2})
    for (size_t j = 0; j < 2; ++j)
      want.push_back(rows[i * 2 + j]);
  check_close(run.value(), {2, 3, 2}, want, 0);
  check_layer_gradients({}, [](graph& g, const std::vector<symbol>&) {
    return nn::embedding(g.constant(i64({4}, {1, 0, 1, 1})), {.entries = 3, .units = 2, .type = dtype::float64});
  });
}

TEST_CASE("an embedding starts within 0.05 of zero, and takes neither floating indices nor entries of none") {
  const auto run = run_layer(
      [](graph& g) {
        return nn::embedding(g.constant(i32({1}, {0})), {.entries = 50, .units = 8, .type = dtype::float64});
      },
      0);
  const auto rows = run.of("embedding/embeddings");
  CHECK(*std::max_element(rows.begin(), rows.end()) < 0.05);
  CHECK(*std::max_element(rows.begin(), rows.end()) > 0.049);
  CHECK(has(refusal([](graph& g) { return nn::embedding(g.constant(f32({1}, {0})), {.entries = 3, .units = 2}); }),
            "embedding: indices must be int32 or int64, not float32 [1]"));
  CHECK(refusal([](graph& g) {
          return nn::embedding(g.constant(i32({1}, {0})), {.units = 2});
        }).find("entries and units must be at least 1")
        != std::string::npos);
}

TEST_CASE("a feed-forward layer is two dense ones, and as wide as its operand unless it says otherwise") {
  const tensor x = noise<double>({2, 3, 4}, 1);
  const auto run = run_layer([&](graph& g) { return nn::feed_forward(g.constant(x), {.hidden = 6}); });
  CHECK(run.names()
        == strings{"feed_forward/hidden/bias", "feed_forward/hidden/kernel", "feed_forward/output/bias",
                   "feed_forward/output/kernel"});
  auto h = plus_rows(product(numbers(x), run.of("feed_forward/hidden/kernel"), 6, 4, 6),
                     run.of("feed_forward/hidden/bias"));
  for (double& v : h)
    v = std::max(v, 0.0);
  check_close(run.value(), {2, 3, 4},
              plus_rows(product(h, run.of("feed_forward/output/kernel"), 6, 6, 4), run.of("feed_forward/output/bias")),
              1e-14);
  CHECK(run_layer([&](graph& g) { return nn::feed_forward(g.constant(x), {.hidden = 6, .units = 2}); }).value().dims()
        == shape{2, 3, 2});
  CHECK(has(refusal([](graph& g) {
              return nn::feed_forward(g.constant(f32({2, 2}, {1, 2, 3, 4})), {});
            }),
            "hidden of at least 1"));
  check_layer_gradients({{3, 2}}, [](graph&, const std::vector<symbol>& in) {
    return nn::feed_forward(in[0], {.hidden = 3, .activation = gelu});
  });
}

TEST_CASE("dropout in a feed-forward layer and in a residual happens while training only") {
  const tensor x = noise<double>({8, 16}, 1);
  const auto of = [&](bool training) {
    return run_layer([&](graph& g) {
             return nn::residual(g.constant(x),
                                 nn::feed_forward(g.constant(x), {.hidden = 64, .dropout = 0.5, .training = training}));
           })
        .value();
  };
  CHECK_FALSE(of(true) == of(false));
  const auto plain = value([&](graph& g) { return nn::residual(g.constant(x), g.constant(x), {.dropout = 0.5}); });
  check_close(
      plain, {8, 16},
      [&] {
        auto twice = numbers(x);
        for (double& v : twice)
          v *= 2;
        return twice;
      }(),
      0);
  const auto dropped = numbers(
      value([&](graph& g) { return nn::residual(g.constant(x), g.constant(x), {.dropout = 0.5, .training = true}); }));
  const auto once = numbers(x);
  size_t kept = 0;
  for (size_t i = 0; i < once.size(); ++i) {
    const bool is_kept = dropped[i] != once[i];
    kept += is_kept ? 1 : 0;
    CHECK(dropped[i] == doctest::Approx(is_kept ? 3 * once[i] : once[i]));
  }
  CHECK(kept > 40);
  CHECK(kept < 88);
}

TEST_CASE("a residual stretches nothing") {
  CHECK(has(refusal([](graph& g) {
              return nn::residual(g.constant(f32({2, 2}, {1, 2, 3, 4})), g.constant(f32({2}, {1, 2})));
            }),
            "residual: both must be floating and of one shape, not float32 [2, 2] and float32 [2]"));
}

}  // namespace troupe
