#include "tests/compute/nn/run_layer.hpp"
#include "tests/support/has.hpp"

#include <troupe/nn.hpp>

namespace troupe {

using namespace test;

namespace {

/// Applies the formula of layer_norm, without gamma and beta, to each row of `n` numbers.
vec normalised_rows(vec x, size_t n, double epsilon) {
  for (size_t row = 0; row < x.size(); row += n) {
    double mean = 0, square = 0;
    for (size_t i = 0; i < n; ++i)
      mean += x[row + i] / static_cast<double>(n);
    for (size_t i = 0; i < n; ++i)
      square += (x[row + i] - mean) * (x[row + i] - mean) / static_cast<double>(n);
    for (size_t i = 0; i < n; ++i)
      x[row + i] = (x[row + i] - mean) / std::sqrt(square + epsilon);
  }
  return x;
}

/// x · gamma + beta, with one gamma and one beta for each column.
vec rescaled(vec x, const vec& gamma, const vec& beta) {
  for (size_t i = 0; i < x.size(); ++i)
    x[i] = x[i] * gamma[i % gamma.size()] + beta[i % beta.size()];
  return x;
}

/// Mean and variance of each of the `n` columns.
std::pair<vec, vec> moments(const vec& x, size_t n) {
  std::pair<vec, vec> m{vec(n), vec(n)};
  const auto rows = static_cast<double>(x.size() / n);
  for (size_t i = 0; i < x.size(); ++i)
    m.first[i % n] += x[i] / rows;
  for (size_t i = 0; i < x.size(); ++i)
    m.second[i % n] += (x[i] - m.first[i % n]) * (x[i] - m.first[i % n]) / rows;
  return m;
}

/// A network with one batch_norm, for 8 rows of 3 features.
struct normalised {
  tensor x = noise<float>({8, 3}, 1);
  std::vector<const std::byte*> feeds{x.data()};
  trainer t;

  explicit normalised(int32_t shards = 1, double momentum = 0.75)
    : t(
        [&](graph& g) {
          const symbol in = g.placeholder("x", dtype::float32, {g.unknown("batch"), 3});
          model_spec spec;
          spec.loss = reduce_mean(square(nn::dense(nn::batch_norm(in, true, {.momentum = momentum}), {.units = 2})));
          spec.optimizer = gradient_descent{.rate = 0.1f};
          return spec;
        },
        {.batch = 8 / shards, .shards = shards}) {}
};

}  // namespace

TEST_CASE("layer_norm is its formula over the last axis, or several") {
  const tensor x = noise<double>({2, 3, 4}, 1);
  const auto one = run_layer([&](graph& g) { return nn::layer_norm(g.constant(x)); });
  CHECK(one.variables.at("layer_norm/gamma").dims() == shape{4});
  check_close(one.value(), {2, 3, 4},
              rescaled(normalised_rows(numbers(x), 4, 1e-5), one.of("layer_norm/gamma"), one.of("layer_norm/beta")),
              1e-13);
  const auto two = run_layer(
      [&](graph& g) { return nn::layer_norm(g.constant(x), {.axes = 2, .epsilon = 0.1, .name = "n"}); });
  CHECK(two.variables.at("n/beta").dims() == shape{3, 4});
  check_close(two.value(), {2, 3, 4},
              rescaled(normalised_rows(numbers(x), 12, 0.1), two.of("n/gamma"), two.of("n/beta")), 1e-13);
  const auto bare = run_layer([&](graph& g) { return nn::layer_norm(g.constant(x), {.gamma = false, .beta = false}); });
  CHECK(bare.variables.empty());
  check_close(bare.value(), {2, 3, 4}, normalised_rows(numbers(x), 4, 1e-5), 1e-13);
}

TEST_CASE("layer_norm starts as the normalised operand, whatever its scale and place") {
  const auto run = run_layer(
      [](graph& g) {
        return nn::layer_norm(g.constant(f64({1, 4}, {1001, 1003, 1001, 1003})));
      },
      0);
  check_close(run.value(), {1, 4}, {-1, 1, -1, 1}, 1e-5);
}

TEST_CASE("rms_norm divides by the root of the mean square and moves nothing") {
  const tensor x = noise<double>({3, 5}, 2);
  const auto run = run_layer([&](graph& g) { return nn::rms_norm(g.constant(x)); });
  const auto in = numbers(x), gamma = run.of("rms_norm/gamma");
  vec want(in.size());
  for (size_t row = 0; row < in.size(); row += 5) {
    double square = 0;
    for (size_t i = 0; i < 5; ++i)
      square += in[row + i] * in[row + i] / 5;
    for (size_t i = 0; i < 5; ++i)
      want[row + i] = gamma[i] * in[row + i] / std::sqrt(square + 1e-6);
  }
  check_close(run.value(), {3, 5}, want, 1e-14);
  CHECK(run.variables.size() == 1);
}

TEST_CASE("gradients of normalisations are those of central differences") {
  using list = const std::vector<symbol>&;
  check_layer_gradients({{3, 4}}, [](graph&, list x) { return nn::layer_norm(x[0]); });
  check_layer_gradients({{2, 2, 3}}, [](graph&, list x) { return nn::layer_norm(x[0], {.axes = 2}); });
  check_layer_gradients({{3, 4}}, [](graph&, list x) { return nn::rms_norm(x[0]); });
  check_layer_gradients({{4, 2}}, [](graph&, list x) { return nn::batch_norm(x[0], true); });
  check_layer_gradients({{2, 2, 3}}, [](graph&, list x) { return nn::batch_norm(x[0], false); });
}

TEST_CASE("normalisations refuse axes that are not known, and numbers that make no sense") {
  CHECK(has(refusal([](graph& g) {
              return nn::layer_norm(g.placeholder("x", dtype::float32, {3, g.unknown("batch")}));
            }),
            "layer_norm: the last 1 axes must be known extents of a floating operand, not of float32 [3, batch]"));
  CHECK(has(refusal([](graph& g) {
              return nn::rms_norm(g.constant(f32({2}, {1, 2})), {.axes = 2});
            }),
            "rms_norm: the last 2 axes"));
  CHECK(refusal([](graph& g) {
          return nn::layer_norm(g.constant(f32({2}, {1, 2})), {.epsilon = -1});
        }).find("epsilon must be at least 0")
        != std::string::npos);
  CHECK(refusal([](graph& g) {
          return nn::batch_norm(g.constant(f32({2}, {1, 2})), true);
        }).find("batch_norm: operand must be floating [batch, ..., features]")
        != std::string::npos);
  CHECK(refusal([](graph& g) {
          return nn::batch_norm(g.constant(f32({1, 2}, {1, 2})), true, {.momentum = 1.5});
        }).find("momentum must be in [0, 1]")
        != std::string::npos);
}

TEST_CASE("batch_norm normalises by the batch while training and by the moving statistics otherwise") {
  const tensor x = noise<double>({2, 3, 4}, 1);
  const auto in = numbers(x);
  const auto of = [&](bool training) {
    return run_layer([&](graph& g) { return nn::batch_norm(g.constant(x), training); }, 0.3);
  };
  const auto by = [&](const layer_run& run, const vec& mean, const vec& variance) {
    vec want = in;
    for (size_t i = 0; i < in.size(); ++i)
      want[i] = (in[i] - mean[i % 4]) / std::sqrt(variance[i % 4] + 1e-3);
    return rescaled(want, run.of("batch_norm/gamma"), run.of("batch_norm/beta"));
  };
  const auto still = of(false);
  check_close(still.value(), {2, 3, 4},
              by(still, still.of("batch_norm/moving_mean"), still.of("batch_norm/moving_variance")), 1e-14);
  graph g;
  model_spec spec;
  spec.mode = mode::predict;
  spec.predictions["y"] = nn::batch_norm(g.constant(x), true, {.gamma = false, .beta = false});
  const auto p = program::make(g, spec, *parameter_layout::of(g, std::nullopt), {});
  REQUIRE(p);
  REQUIRE((*p)->run({}) == step_status::ok);
  vec want = in;
  const auto [mean, variance] = moments(in, 4);
  for (size_t i = 0; i < in.size(); ++i)
    want[i] = (in[i] - mean[i % 4]) / std::sqrt(variance[i % 4] + 1e-3);
  check_close((*p)->output(0), {2, 3, 4}, want, 1e-13);
}

TEST_CASE("each step moves batch_norm's statistics by its momentum, and the optimizer leaves them alone") {
  normalised n;
  const auto [mean, variance] = moments(numbers(n.x), 3);
  vec m(3), v(3, 1.0);
  for (int64_t step = 0; step < 3; ++step) {
    REQUIRE(n.t.step(n.feeds, step) == step_status::ok);
    for (size_t i = 0; i < 3; ++i) {
      m[i] = 0.75 * m[i] + 0.25 * mean[i];
      v[i] = 0.75 * v[i] + 0.25 * variance[i];
    }
    check_close(n.t.value("batch_norm/moving_mean"), {3}, m);
    check_close(n.t.value("batch_norm/moving_variance"), {3}, v);
  }
}

TEST_CASE("shards are normalised each by itself, and the statistics move to the mean of theirs") {
  normalised n{2};
  const auto in = numbers(n.x);
  const auto first = moments({in.begin(), in.begin() + 12}, 3), second = moments({in.begin() + 12, in.end()}, 3);
  std::vector<tensor> parts;
  for (int32_t shard = 0; shard < 2; ++shard) {
    const std::vector<const std::byte*> rows{n.x.data() + shard * 12 * 4};
    REQUIRE(n.t.run->gradients(n.t.input(rows, 0, shard), n.t.gradient.get()) == step_status::ok);
    parts.push_back(tensor::copy_of(dtype::uint8, {n.t.layout.gradient_bytes()},
                                    {n.t.gradient.get(), static_cast<size_t>(n.t.layout.gradient_bytes())}));
  }
  auto sum = allocate_buffer(n.t.layout.gradient_bytes());
  std::memcpy(sum.get(), parts[0].data(), static_cast<size_t>(n.t.layout.gradient_bytes()));
  add_gradient(n.t.layout, sum.get(), parts[1].data());
  n.t.run->apply(0, n.t.whole(), sum.get(), n.t.store->arena(0), n.t.store->arena(0));
  vec m(3), v(3);
  for (size_t i = 0; i < 3; ++i) {
    m[i] = 0.25 * (first.first[i] + second.first[i]) / 2;
    v[i] = 0.75 + 0.25 * (first.second[i] + second.second[i]) / 2;
  }
  check_close(n.t.value("batch_norm/moving_mean"), {3}, m);
  check_close(n.t.value("batch_norm/moving_variance"), {3}, v);
}

}  // namespace troupe
