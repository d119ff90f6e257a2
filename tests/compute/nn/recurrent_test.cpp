#include "tests/compute/nn/run_layer.hpp"
#include "tests/support/has.hpp"

#include <troupe/nn.hpp>

namespace troupe {

using namespace test;
using list = const std::vector<symbol>&;
using strings = std::vector<std::string>;

namespace {

constexpr int64_t batch = 2, n = 3, units = 2;

struct lstm_numbers {
  vec c, h;
};

/// One step by the formula of BasicLSTMCell, row by row.
lstm_numbers lstm_step(const vec& x, const lstm_numbers& s, const vec& kernel, const vec& bias, double forget_bias) {
  lstm_numbers next{vec(s.c.size()), vec(s.h.size())};
  for (int64_t row = 0; row < batch; ++row)
    for (int64_t u = 0; u < units; ++u) {
      double gate[4];
      for (int64_t k = 0; k < 4; ++k) {
        const int64_t column = k * units + u;
        gate[k] = bias[static_cast<size_t>(column)];
        for (int64_t i = 0; i < n; ++i)
          gate[k] += x[static_cast<size_t>(row * n + i)] * kernel[static_cast<size_t>(i * 4 * units + column)];
        for (int64_t i = 0; i < units; ++i)
          gate[k] += s.h[static_cast<size_t>(row * units + i)]
                     * kernel[static_cast<size_t>((n + i) * 4 * units + column)];
      }
      const auto at = static_cast<size_t>(row * units + u);
      next.c[at] = logistic(gate[2] + forget_bias) * s.c[at] + logistic(gate[0]) * std::tanh(gate[1]);
      next.h[at] = logistic(gate[3]) * std::tanh(next.c[at]);
    }
  return next;
}

/// One step by the formula of Keras's GRU with reset_after = false.
vec gru_step(const vec& x, const vec& h, const vec& kernel, const vec& recurrent, const vec& bias) {
  vec next(h.size());
  const auto gate = [&](int64_t row, int64_t column, const vec& state) {
    double sum = bias[static_cast<size_t>(column)];
    for (int64_t i = 0; i < n; ++i)
      sum += x[static_cast<size_t>(row * n + i)] * kernel[static_cast<size_t>(i * 3 * units + column)];
    for (int64_t i = 0; i < units; ++i)
      sum += state[static_cast<size_t>(row * units + i)] * recurrent[static_cast<size_t>(i * 3 * units + column)];
    return sum;
  };
  vec reset(h.size());
  for (int64_t row = 0; row < batch; ++row)
    for (int64_t u = 0; u < units; ++u)
      reset[static_cast<size_t>(row * units + u)] = h[static_cast<size_t>(row * units + u)]
                                                    * logistic(gate(row, units + u, h));
  for (int64_t row = 0; row < batch; ++row)
    for (int64_t u = 0; u < units; ++u) {
      const auto at = static_cast<size_t>(row * units + u);
      const double z = logistic(gate(row, u, h));
      next[at] = z * h[at] + (1 - z) * std::tanh(gate(row, 2 * units + u, reset));
    }
  return next;
}

/// Step `t` of numbers [batch, time, n].
vec step_of(const vec& x, int64_t time, int64_t t) {
  vec y;
  for (int64_t row = 0; row < batch; ++row)
    for (int64_t i = 0; i < n; ++i)
      y.push_back(x[static_cast<size_t>((row * time + t) * n + i)]);
  return y;
}

/// Writes the output h of step `t` into [batch, time, units].
void put_step(vec& all, const vec& h, int64_t time, int64_t t) {
  for (int64_t row = 0; row < batch; ++row)
    for (int64_t u = 0; u < units; ++u)
      all[static_cast<size_t>((row * time + t) * units + u)] = h[static_cast<size_t>(row * units + u)];
}

}  // namespace

TEST_CASE("an LSTM cell is TensorFlow's BasicLSTMCell") {
  const tensor x = noise<double>({batch, n}, 1), c = noise<double>({batch, units}, 2),
               h = noise<double>({batch, units}, 3);
  const auto run = run_layers([&](graph& g) {
    const symbol in = g.constant(x);
    const auto next = nn::lstm_cell(in, {g.constant(c), g.constant(h)},
                                    nn::lstm_variables(in, {.units = units, .forget_bias = 0.75}));
    return named_values{{"c", next.c}, {"h", next.h}};
  });
  CHECK(run.names() == strings{"lstm/bias", "lstm/kernel"});
  CHECK(run.variables.at("lstm/kernel").dims() == shape{n + units, 4 * units});
  const auto want = lstm_step(numbers(x), {numbers(c), numbers(h)}, run.of("lstm/kernel"), run.of("lstm/bias"), 0.75);
  check_close(run.value("c"), {batch, units}, want.c, 1e-14);
  check_close(run.value("h"), {batch, units}, want.h, 1e-14);
}

TEST_CASE("an LSTM over a sequence is its cell step after step from zeros, for every length") {
  for (int64_t time : {1, 2, 5}) {
    CAPTURE(time);
    const tensor x = noise<double>({batch, time, n}, 1);
    const auto run = run_layers([&](graph& g) {
      const auto all = nn::lstm(g.constant(x), {.units = units});
      return named_values{{"outputs", all.outputs}, {"c", all.last.c}, {"h", all.last.h}};
    });
    CHECK(run.names() == strings{"lstm/bias", "lstm/kernel"});
    lstm_numbers s{vec(batch * units), vec(batch * units)};
    vec outputs(static_cast<size_t>(batch * time * units));
    for (int64_t t = 0; t < time; ++t) {
      s = lstm_step(step_of(numbers(x), time, t), s, run.of("lstm/kernel"), run.of("lstm/bias"), 1);
      put_step(outputs, s.h, time, t);
    }
    check_close(run.value("outputs"), {batch, time, units}, outputs, 1e-14);
    check_close(run.value("c"), {batch, units}, s.c, 1e-14);
    check_close(run.value("h"), {batch, units}, s.h, 1e-14);
  }
}

TEST_CASE("a GRU cell is Keras' with reset_after false") {
  const tensor x = noise<double>({batch, n}, 1), h = noise<double>({batch, units}, 3);
  const auto run = run_layer([&](graph& g) {
    const symbol in = g.constant(x);
    return nn::gru_cell(in, g.constant(h), nn::gru_variables(in, {.units = units}));
  });
  CHECK(run.names() == strings{"gru/bias", "gru/kernel", "gru/recurrent_kernel"});
  check_close(
      run.value(), {batch, units},
      gru_step(numbers(x), numbers(h), run.of("gru/kernel"), run.of("gru/recurrent_kernel"), run.of("gru/bias")),
      1e-14);
}

TEST_CASE("a GRU goes on from the state that it is given") {
  constexpr int64_t time = 4;
  const tensor x = noise<double>({batch, time, n}, 1), h = noise<double>({batch, units}, 3);
  const auto run = run_layers([&](graph& g) {
    const auto all = nn::gru(g.constant(x), {.units = units}, g.constant(h));
    return named_values{{"outputs", all.outputs}, {"last", all.last}};
  });
  vec s = numbers(h), outputs(static_cast<size_t>(batch * time * units));
  for (int64_t t = 0; t < time; ++t) {
    s = gru_step(step_of(numbers(x), time, t), s, run.of("gru/kernel"), run.of("gru/recurrent_kernel"),
                 run.of("gru/bias"));
    put_step(outputs, s, time, t);
  }
  check_close(run.value("outputs"), {batch, time, units}, outputs, 1e-14);
  check_close(run.value("last"), {batch, units}, s, 1e-14);
}

TEST_CASE("two recurrent layers of one name have variables of their own") {
  const tensor x = noise<double>({batch, 2, n}, 1);
  const auto run = run_layer([&](graph& g) {
    const symbol h = nn::lstm(nn::lstm(g.constant(x), {.units = units}).outputs, {.units = 4}).outputs;
    return nn::gru(h, {.units = 1}).outputs;
  });
  CHECK(run.names()
        == strings{"gru/bias", "gru/kernel", "gru/recurrent_kernel", "lstm/bias", "lstm/kernel", "lstm_1/bias",
                   "lstm_1/kernel"});
  CHECK(run.value().dims() == shape{batch, 2, 1});
}

TEST_CASE("gradients through time are those of central differences") {
  check_layer_gradients({{2, 3}, {2, 2}, {2, 2}}, [](graph&, list x) {
    const auto next = nn::lstm_cell(x[0], {x[1], x[2]}, nn::lstm_variables(x[0], {.units = 2}));
    return add(next.h, mul(next.c, next.c));
  });
  check_layer_gradients({{2, 3}, {2, 2}},
                        [](graph&, list x) { return nn::gru_cell(x[0], x[1], nn::gru_variables(x[0], {.units = 2})); });
  check_layer_gradients({{1, 3, 2}}, [](graph&, list x) { return nn::lstm(x[0], {.units = 2}).outputs; });
  check_layer_gradients({{2, 3, 1}, {2, 2}}, [](graph&, list x) { return nn::gru(x[0], {.units = 2}, x[1]).outputs; });
}

TEST_CASE("the batch of a sequence may be unknown, its time may not") {
  graph g;
  const symbol x = g.placeholder("x", dtype::float32, {g.unknown("batch"), 5, 3});
  CHECK(nn::lstm(x, {.units = 4}).outputs.dims() == symbol_shape{g.unknown("batch"), 5, 4});
  CHECK(nn::gru(x, {.units = 4}).last.dims() == symbol_shape{g.unknown("batch"), 4});
  CHECK(g.status());
  const symbol y = g.placeholder("y", dtype::float32, {5, g.unknown("batch"), 3});
  CHECK_FALSE(nn::lstm(y, {.units = 4}).outputs.valid());
  REQUIRE_FALSE(g.status());
  const std::string needs =
      "lstm: needs floating [batch, time, features] of known time and features and units of at least 1, not float32 "
      "[5, batch, 3] and 4";
  CHECK(has(g.status().error().message, needs));
}

TEST_CASE("cells refuse states and variables of other shapes") {
  const auto x = [](graph& g) { return g.constant(f32({1, 2}, {1, 2})); };
  CHECK(has(refusal([&](graph& g) { return nn::gru_cell(x(g), x(g), nn::gru_variables(x(g), {.units = 3})); }),
            "gru_cell: float32 [1, 2] and the state float32 [1, 2] do not fit the kernel float32 [2, 9]"));
  CHECK(has(refusal([&](graph& g) {
              return nn::lstm_cell(x(g), {x(g), x(g)}, nn::lstm_variables(x(g), {.units = 3})).h;
            }),
            "do not fit the kernel float32 [5, 12]"));
  CHECK(has(refusal([&](graph& g) {
              return nn::gru(reshape(x(g), {1, 1, 2}), {.units = 3}, x(g)).last;
            }),
            "gru: the initial state must be float32 [1, 3], not float32 [1, 2]"));
  for (int64_t many : {int64_t{1} << 30, int64_t{1} << 50}) {
    CHECK(has(refusal([&](graph& g) {
                return nn::lstm(reshape(x(g), {1, 1, 2}), {.units = many}).last.c;
              }),
              "more than 2^48 elements"));
    CHECK(has(refusal([&](graph& g) {
                return nn::gru(reshape(x(g), {1, 1, 2}), {.units = many}).outputs;
              }),
              "more than 2^48 elements"));
  }
  CHECK(has(refusal([&](graph& g) { return nn::lstm_variables(x(g), {}).kernel; }),
            "lstm: needs a floating operand with a known number of features and units of at least 1"));
}

}  // namespace troupe
