// Batches of rows with different lengths, and layers that read rows from both ends.
#include "tests/compute/nn/run_layer.hpp"
#include "tests/support/has.hpp"

#include <troupe/nn.hpp>

namespace troupe {

using namespace test;
using list = const std::vector<symbol>&;

namespace {

constexpr int64_t batch = 4, time = 5, n = 3, units = 2;
constexpr int64_t lengths[batch] = {5, 3, 0, 1};

tensor of_rows() { return i64({batch}, {5, 3, 0, 1}); }

/// One row with its first `count` steps, in reverse order if `backward`.
tensor row_of(const tensor& x, int64_t row, int64_t count, bool backward = false) {
  vec y;
  for (int64_t t = 0; t < count; ++t)
    for (int64_t i = 0; i < n; ++i)
      y.push_back(x.as<double>()[static_cast<size_t>((row * time + (backward ? count - 1 - t : t)) * n + i)]);
  return tensor::of<double>({1, count, n}, std::span<const double>{y});
}

double at(const tensor& y, int64_t row, int64_t t, int64_t u) {
  return y.as<double>()[static_cast<size_t>((row * time + t) * y.dims()[2] + u)];
}

}  // namespace

TEST_CASE("a row of a shorter length has the outputs of itself alone, then zeros, and the state of its end") {
  const tensor x = noise<double>({batch, time, n}, 1), c = noise<double>({batch, units}, 2),
               h = noise<double>({batch, units}, 3);
  for (const bool narrow : {false, true}) {
    const auto run = run_layers([&](graph& g) {
      const symbol l = narrow ? g.constant(i32({batch}, {7, 3, 0, 1})) : g.constant(of_rows());  // 7 is too many.
      const auto a = nn::lstm(g.constant(x), {.units = units, .lengths = l}, {g.constant(c), g.constant(h)});
      const auto b = nn::gru(g.constant(x), {.units = units, .lengths = l}, g.constant(h));
      return named_values{{"lstm", a.outputs}, {"c", a.last.c}, {"h", a.last.h}, {"gru", b.outputs}, {"last", b.last}};
    });
    for (int64_t row = 0; row < batch; ++row) {
      const int64_t length = lengths[row];
      const auto state = [&](const tensor& s, int64_t u) {
        return s.as<double>()[static_cast<size_t>(row * units + u)];
      };
      for (int64_t u = 0; u < units; ++u)
        for (int64_t t = length; t < time; ++t) {
          CHECK(at(run.value("lstm"), row, t, u) == 0);
          CHECK(at(run.value("gru"), row, t, u) == 0);
        }
      if (length == 0) {
        for (int64_t u = 0; u < units; ++u) {
          CHECK(state(run.value("c"), u) == state(c, u));
          CHECK(state(run.value("h"), u) == state(h, u));
          CHECK(state(run.value("last"), u) == state(h, u));
        }
        continue;
      }
      const auto alone = run_layers([&](graph& g) {
        const auto one = [&](const tensor& s) { return g.constant(f64({1, units}, {state(s, 0), state(s, 1)})); };
        const auto a = nn::lstm(g.constant(row_of(x, row, length)), {.units = units}, {one(c), one(h)});
        const auto b = nn::gru(g.constant(row_of(x, row, length)), {.units = units}, one(h));
        return named_values{
            {"lstm", a.outputs}, {"c", a.last.c}, {"h", a.last.h}, {"gru", b.outputs}, {"last", b.last}};
      });
      for (int64_t u = 0; u < units; ++u) {
        for (int64_t t = 0; t < length; ++t) {
          CHECK(at(run.value("lstm"), row, t, u)
                == alone.value("lstm").as<double>()[static_cast<size_t>(t * units + u)]);
          CHECK(at(run.value("gru"), row, t, u) == alone.value("gru").as<double>()[static_cast<size_t>(t * units + u)]);
        }
        for (const char* s : {"c", "h", "last"})
          CHECK(state(run.value(s), u) == alone.value(s).as<double>()[static_cast<size_t>(u)]);
      }
    }
  }
}

TEST_CASE("reverse_sequence turns round what is within each length, and everything without") {
  const tensor x = noise<double>({batch, time, n}, 1);
  const tensor y = value([&](graph& g) { return nn::reverse_sequence(g.constant(x), g.constant(of_rows())); });
  const tensor all = value([&](graph& g) { return nn::reverse_sequence(g.constant(x)); });
  REQUIRE(y.dims() == x.dims());
  for (int64_t row = 0; row < batch; ++row)
    for (int64_t t = 0; t < time; ++t)
      for (int64_t i = 0; i < n; ++i) {
        CHECK(at(y, row, t, i) == at(x, row, t < lengths[row] ? lengths[row] - 1 - t : t, i));
        CHECK(at(all, row, t, i) == at(x, row, time - 1 - t, i));
      }
  CHECK(value([&](graph& g) {
          return nn::reverse_sequence(g.constant(f64({2, 3}, {1, 2, 3, 4, 5, 6})), g.constant(i32({2}, {2, 9})));
        })
        == f64({2, 3}, {2, 1, 3, 6, 5, 4}));
}

TEST_CASE("a bidirectional layer is two layers, one of which reads each row from its end") {
  const tensor x = noise<double>({batch, time, n}, 1);
  const auto run = run_layers([&](graph& g) {
    const symbol l = g.constant(of_rows());
    const auto a = nn::bidirectional(g.constant(x), nn::lstm_options{.units = units, .lengths = l});
    const auto b = nn::bidirectional(g.constant(x), nn::gru_options{.units = units, .lengths = l});
    return named_values{{"lstm", a.outputs},
                        {"h", a.backward.last.h},
                        {"gru", b.outputs},
                        {"last", b.backward.last},
                        {"forward", b.forward.outputs}};
  });
  CHECK(run.names()
        == std::vector<std::string>{"bidirectional/bw/lstm/bias", "bidirectional/bw/lstm/kernel",
                                    "bidirectional/fw/lstm/bias", "bidirectional/fw/lstm/kernel",
                                    "bidirectional_1/bw/gru/bias", "bidirectional_1/bw/gru/kernel",
                                    "bidirectional_1/bw/gru/recurrent_kernel", "bidirectional_1/fw/gru/bias",
                                    "bidirectional_1/fw/gru/kernel", "bidirectional_1/fw/gru/recurrent_kernel"});
  for (int64_t row : {0, 1, 3}) {
    const int64_t length = lengths[row];
    // The backward layer applied by hand: the same variables, with the row reversed.
    const auto backward = [&](const std::string& layer) {
      return value([&](graph& g) {
        const auto v = [&](const std::string& name) { return g.constant(run.variables.at(layer + name)); };
        symbol h = g.constant(f64({1, units}, {0, 0})), cell = h;
        const symbol in = g.constant(row_of(x, row, length, true));
        for (int64_t t = 0; t < length; ++t) {
          const symbol step = squeeze(slice(in, 1, t, 1), {1});
          if (layer.find("lstm") != std::string::npos) {
            const auto next = nn::lstm_cell(step, {cell, h}, {v("kernel"), v("bias")});
            cell = next.c;
            h = next.h;
          } else {
            h = nn::gru_cell(step, h, {v("kernel"), v("recurrent_kernel"), v("bias")});
          }
        }
        return h;
      });
    };
    const tensor of_lstm = backward("bidirectional/bw/lstm/"), of_gru = backward("bidirectional_1/bw/gru/");
    for (int64_t u = 0; u < units; ++u) {
      // The backward output at the first step has read the whole row, and equals the last state.
      CHECK(at(run.value("lstm"), row, 0, units + u)
            == doctest::Approx(of_lstm.as<double>()[static_cast<size_t>(u)]).epsilon(1e-13));
      CHECK(run.value("h").as<double>()[static_cast<size_t>(row * units + u)]
            == at(run.value("lstm"), row, 0, units + u));
      CHECK(at(run.value("gru"), row, 0, units + u)
            == doctest::Approx(of_gru.as<double>()[static_cast<size_t>(u)]).epsilon(1e-13));
      CHECK(run.value("last").as<double>()[static_cast<size_t>(row * units + u)]
            == at(run.value("gru"), row, 0, units + u));
      for (int64_t t = 0; t < time; ++t)
        CHECK(at(run.value("gru"), row, t, u) == at(run.value("forward"), row, t, u));
      for (int64_t t = length; t < time; ++t)
        CHECK(at(run.value("lstm"), row, t, units + u) == 0);
    }
  }
}

TEST_CASE("gradients of sequences with lengths, both ways, are those of central differences") {
  const auto of = [](graph& g) { return g.constant(i32({2}, {3, 1})); };
  check_layer_gradients({{2, 3, 2}},
                        [of](graph& g, list x) { return nn::lstm(x[0], {.units = 2, .lengths = of(g)}).outputs; });
  check_layer_gradients({{2, 3, 1}}, [of](graph& g, list x) {
    return nn::bidirectional(x[0], nn::gru_options{.units = 2, .lengths = of(g)}).outputs;
  });
}

TEST_CASE("what lies beyond a length reaches neither outputs nor gradients, though the batch is unknown") {
  trainer t(
      [](graph& g) {
        const symbol x = g.placeholder("x", dtype::float32, {g.unknown("batch"), 4, 2}),
                     l = g.placeholder("lengths", dtype::int32, {g.unknown("batch")});
        model_spec spec;
        spec.loss = reduce_sum(square(nn::bidirectional(x, nn::lstm_options{.units = 3, .lengths = l}).outputs));
        spec.optimizer = momentum{};
        return spec;
      },
      {.batch = 2});
  tensor x = noise<float>({2, 4, 2}, 1);
  const tensor l = i32({2}, {4, 2});
  REQUIRE(t.run->gradients(t.input({x.data(), l.data()}), t.gradient.get()) == step_status::ok);
  const double loss = t.run->loss();
  const auto before = std::vector<std::byte>(t.gradient.get(), t.gradient.get() + t.layout.gradient_bytes());
  std::vector<float> other(x.as<float>().begin(), x.as<float>().end());
  std::fill(other.begin() + 12, other.end(), 0.75f);  // Steps 2 and 3 of the second row.
  x = tensor::of<float>({2, 4, 2}, std::span<const float>{other});
  REQUIRE(t.run->gradients(t.input({x.data(), l.data()}), t.gradient.get()) == step_status::ok);
  CHECK(t.run->loss() == loss);
  CHECK(std::memcmp(before.data(), t.gradient.get(), before.size()) == 0);
}

TEST_CASE("lengths of another shape or dtype are refused") {
  const auto x = [](graph& g) { return g.constant(f64({2, 2, 1}, {1, 2, 3, 4})); };
  CHECK(has(refusal([&](graph& g) {
              return nn::lstm(x(g), {.units = 1, .lengths = g.constant(i32({3}, {1, 1, 1}))}).outputs;
            }),
            "lstm: lengths must be int32 or int64 [2], not int32 [3]"));
  CHECK(has(refusal([&](graph& g) {
              return nn::gru(x(g), {.units = 1, .lengths = g.constant(f64({2}, {1, 1}))}).outputs;
            }),
            "gru: lengths must be int32 or int64 [2], not float64 [2]"));
  CHECK(has(refusal([&](graph& g) {
              return nn::reverse_sequence(x(g), g.constant(f64({2}, {1, 1})));
            }),
            "reverse_sequence: needs [batch, time, ...]"));
}

}  // namespace troupe
