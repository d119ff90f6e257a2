#include "tests/compute/nn/run_layer.hpp"
#include "tests/support/has.hpp"

#include <troupe/nn.hpp>

namespace troupe {

using namespace test;
using list = const std::vector<symbol>&;
using strings = std::vector<std::string>;

namespace {

/// The softmax of each row of scores [t, s]; entries for which `sees` is false get the weight 0.
template <class F>
vec weights_of(vec scores, int64_t t, int64_t s, F sees) {
  for (int64_t i = 0; i < t; ++i) {
    double sum = 0;
    for (int64_t j = 0; j < s; ++j) {
      double& x = scores[static_cast<size_t>(i * s + j)];
      x = sees(i, j) ? std::exp(x) : 0;
      sum += x;
    }
    for (int64_t j = 0; j < s; ++j)
      scores[static_cast<size_t>(i * s + j)] /= sum;
  }
  return scores;
}

vec transposed(const vec& x, int64_t rows, int64_t columns) {
  vec y(x.size());
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j)
      y[static_cast<size_t>(j * rows + i)] = x[static_cast<size_t>(i * columns + j)];
  return y;
}

/// Columns [first, first + count) of x [rows, columns].
vec columns_of(const vec& x, int64_t columns, int64_t first, int64_t count) {
  vec y;
  for (size_t row = 0; row < x.size(); row += static_cast<size_t>(columns))
    y.insert(y.end(), x.begin() + static_cast<std::ptrdiff_t>(row) + first,
             x.begin() + static_cast<std::ptrdiff_t>(row) + first + count);
  return y;
}

double element(const vec& x, int64_t columns, int64_t row, int64_t column) {
  return x[static_cast<size_t>(row * columns + column)];
}

/// The inputs of one layer for one sequence: x [t, n] and source [s, m].
struct asked {
  vec x, source;
  int64_t t, n, s, m, heads, units;
};

vec projected(const layer_run& run, const std::string& name, const vec& x, int64_t rows, int64_t n, int64_t columns) {
  return plus_rows(product(x, run.of("attention/" + name + "/kernel"), rows, n, columns),
                   run.of("attention/" + name + "/bias"));
}

/// Multi-head attention, computed one head at a time. `extra` is the distance's term, added to a score before the
/// division by √units.
template <class See, class Extra>
vec attended(const layer_run& run, const asked& a, See sees, Extra extra, const vec& content_bias = {}) {
  const int64_t all = a.heads * a.units;
  const vec q = projected(run, "query", a.x, a.t, a.n, all), k = projected(run, "key", a.source, a.s, a.m, all),
            v = projected(run, "value", a.source, a.s, a.m, all);
  vec mixed(static_cast<size_t>(a.t * all));
  for (int64_t h = 0; h < a.heads; ++h) {
    vec own = columns_of(q, all, h * a.units, a.units);
    const vec plain = own;
    if (!content_bias.empty())
      own = plus_rows(own, {content_bias.begin() + h * a.units, content_bias.begin() + (h + 1) * a.units});
    vec scores = product(own, transposed(columns_of(k, all, h * a.units, a.units), a.s, a.units), a.t, a.units, a.s);
    for (int64_t i = 0; i < a.t; ++i)
      for (int64_t j = 0; j < a.s; ++j) {
        double& x = scores[static_cast<size_t>(i * a.s + j)];
        x = (x + extra(h, i, j, plain)) / std::sqrt(static_cast<double>(a.units));
      }
    const vec y = product(weights_of(scores, a.t, a.s, sees), columns_of(v, all, h * a.units, a.units), a.t, a.s,
                          a.units);
    for (int64_t i = 0; i < a.t; ++i)
      for (int64_t u = 0; u < a.units; ++u)
        mixed[static_cast<size_t>(i * all + h * a.units + u)] = element(y, a.units, i, u);
  }
  return projected(run, "output", mixed, a.t, all, a.n);
}

const auto nothing_extra = [](int64_t, int64_t, int64_t, const vec&) { return 0.0; };
const auto everything = [](int64_t, int64_t) { return true; };

/// Sequence `b` of x [batch, ...].
vec sequence(const tensor& x, int64_t b) { return numbers(x.slice(b, 1)); }

}  // namespace

TEST_CASE("attention mixes values by the softmax of scaled products, row by row") {
  const tensor q = noise<double>({2, 3, 4}, 1), k = noise<double>({2, 5, 4}, 2), v = noise<double>({2, 5, 2}, 3);
  const auto got = value(
      [&](graph& g) { return nn::scaled_dot_product_attention(g.constant(q), g.constant(k), g.constant(v)); });
  vec want;
  for (int64_t b = 0; b < 2; ++b) {
    auto scores = product(sequence(q, b), transposed(sequence(k, b), 5, 4), 3, 4, 5);
    for (double& x : scores)
      x /= 2;
    const auto rows = product(weights_of(scores, 3, 5, everything), sequence(v, b), 3, 5, 2);
    want.insert(want.end(), rows.begin(), rows.end());
  }
  check_close(got, {2, 3, 2}, want, 1e-14);
}

TEST_CASE("a mask hides keys, whatever their values, and a query that sees nothing gets their mean") {
  const tensor q = noise<double>({2, 4}, 1), k = noise<double>({3, 4}, 2), v = f64({3, 1}, {1, 2, 6}),
               huge = f64({3, 1}, {1, 2, 1e200});
  const auto of = [&](const tensor& values, const tensor& mask) {
    return value([&](graph& g) {
      return nn::scaled_dot_product_attention(g.constant(q), g.constant(k), g.constant(values), g.constant(mask));
    });
  };
  const tensor last = bools({3}, {true, true, false});
  CHECK(of(v, last) == of(huge, last));
  const auto rows = numbers(of(v, bools({2, 3}, {false, false, false, false, true, false})));
  CHECK(rows[0] == doctest::Approx(3));
  CHECK(rows[1] == 2);
}

TEST_CASE("a causal mask lets a query see what is remembered and what is not after it") {
  CHECK(value([](graph& g) { return nn::causal_mask(g, 2, 2); }) == bools({2, 2}, {true, false, true, true}));
  CHECK(value([](graph& g) { return nn::causal_mask(g, 2, 4); })
        == bools({2, 4}, {true, true, true, false, true, true, true, true}));
  CHECK(refusal([](graph& g) {
          return nn::causal_mask(g, 3, 2);
        }).find("causal_mask: there must be a query, and a key for each, not 3 and 2")
        != std::string::npos);
}

TEST_CASE("relative_shift moves each row of scores by distance to the keys they are for") {
  for (const auto& [t, s] : {std::pair<int64_t, int64_t>{3, 3}, {2, 5}, {1, 4}, {4, 4}}) {
    const tensor x = noise<double>({2, t, s}, 1);
    const auto got = numbers(value([&](graph&g) { return nn::relative_shift(g.constant(x)); })), in = numbers(x);
    for (int64_t b = 0; b < 2; ++b)
      for (int64_t i = 0; i < t; ++i)
        for (int64_t j = 0; j <= i + s - t; ++j)
          CHECK(got[static_cast<size_t>((b * t + i) * s + j)]
                == in[static_cast<size_t>((b * t + i) * s + j + t - 1 - i)]);
  }
  CHECK(refusal([](graph& g) {
          return nn::relative_shift(g.constant(f32({2, 1}, {1, 2})));
        }).find("relative_shift: needs numbers [..., t, s]")
        != std::string::npos);
}

TEST_CASE("sinusoids are sines and then cosines of positions at falling frequencies") {
  const auto got = value(
      [](graph& g) { return nn::sinusoids(g, 3, 4, {.first = 7, .step = -2, .type = dtype::float64}); });
  vec want;
  for (double p : {7, 5, 3})
    for (double x : {std::sin(p), std::sin(p / 100), std::cos(p), std::cos(p / 100)})
      want.push_back(x);
  check_close(got, {3, 4}, want, 1e-15);
  CHECK(has(refusal([](graph& g) { return nn::sinusoids(g, 3, 5); }), "an even number of features"));
}

TEST_CASE("several heads are attention of each head's columns, put side by side and projected") {
  const tensor x = noise<double>({2, 3, 4}, 1), source = noise<double>({2, 5, 6}, 2);
  const auto plain = run_layer([&](graph& g) { return nn::multi_head_attention(g.constant(x), {.heads = 2}); });
  CHECK(plain.names()
        == strings{"attention/key/bias", "attention/key/kernel", "attention/output/bias", "attention/output/kernel",
                   "attention/query/bias", "attention/query/kernel", "attention/value/bias", "attention/value/kernel"});
  const auto causal = run_layer(
      [&](graph& g) { return nn::multi_head_attention(g.constant(x), {.heads = 2, .causal = true}); });
  const auto across = run_layer([&](graph& g) {
    return nn::multi_head_attention(g.constant(x), {.heads = 3, .head_units = 2, .source = g.constant(source)});
  });
  for (int64_t b = 0; b < 2; ++b) {
    const asked within{sequence(x, b), sequence(x, b), 3, 4, 3, 4, 2, 2};
    check_close(plain.value().slice(b, 1), {1, 3, 4}, attended(plain, within, everything, nothing_extra), 1e-13);
    check_close(causal.value().slice(b, 1), {1, 3, 4},
                attended(
                    causal, within, [](int64_t i, int64_t j) { return j <= i; }, nothing_extra),
                1e-13);
    check_close(across.value().slice(b, 1), {1, 3, 4},
                attended(across, {sequence(x, b), sequence(source, b), 3, 4, 5, 6, 3, 2}, everything, nothing_extra),
                1e-13);
  }
}

TEST_CASE("memory comes before the source, and a mask is added to the causal order") {
  const tensor x = noise<double>({1, 3, 4}, 1), before = noise<double>({1, 2, 4}, 2),
               padding = bools({5}, {true, false, true, true, true});
  const auto run = run_layer([&](graph& g) {
    return nn::multi_head_attention(
        g.constant(x), {.heads = 2, .memory = g.constant(before), .mask = g.constant(padding), .causal = true});
  });
  vec all = numbers(before);
  const vec own = numbers(x);
  all.insert(all.end(), own.begin(), own.end());
  check_close(
      run.value(), {1, 3, 4},
      attended(
          run, {own, all, 3, 4, 5, 4, 2, 2}, [](int64_t i, int64_t j) { return j != 1 && j <= i + 2; }, nothing_extra),
      1e-13);
}

TEST_CASE("relative attention is Transformer-XL's: content and distance, each with a bias of its own") {
  const tensor x = noise<double>({1, 3, 4}, 1), before = noise<double>({1, 2, 4}, 2);
  const auto run = run_layer([&](graph& g) {
    return nn::multi_head_attention(g.constant(x), {.heads = 2, .memory = g.constant(before), .relative = true});
  });
  vec all = numbers(before);
  const vec own = numbers(x);
  all.insert(all.end(), own.begin(), own.end());
  const vec kernel = run.of("attention/position/kernel"), content = run.of("attention/content_bias"),
            position = run.of("attention/position_bias");
  const auto by_distance = [&](int64_t head, int64_t i, int64_t j, const vec& q) {
    const auto distance = static_cast<double>(i + 2 - j);
    const vec r = product({std::sin(distance), std::sin(distance / 100), std::cos(distance), std::cos(distance / 100)},
                          kernel, 1, 4, 4);
    double sum = 0;
    for (int64_t u = 0; u < 2; ++u)
      sum += (element(q, 2, i, u) + position[static_cast<size_t>(head * 2 + u)]) * r[static_cast<size_t>(head * 2 + u)];
    return sum;
  };
  check_close(
      run.value(), {1, 3, 4},
      attended(
          run, {own, all, 3, 4, 5, 4, 2, 2}, [](int64_t i, int64_t j) { return j <= i + 2; }, by_distance, content),
      1e-13);
}

TEST_CASE("gradients of attention are those of central differences, and none flows into memory") {
  check_layer_gradients({{2, 2, 3}, {2, 3, 3}, {2, 3, 2}}, [](graph& g, list x) {
    return nn::scaled_dot_product_attention(x[0], x[1], x[2], nn::causal_mask(g, 2, 3));
  });
  check_layer_gradients({{1, 2, 2}, {1, 3, 1}},
                        [](graph&, list x) { return nn::multi_head_attention(x[0], {.heads = 2, .source = x[1]}); });
  check_layer_gradients({{1, 2, 2}}, [](graph& g, list x) {
    return nn::multi_head_attention(x[0],
                                    {.heads = 1, .memory = g.constant(noise<double>({1, 1, 2}, 9)), .relative = true});
  });
  check_layer_gradients({{2, 3, 4}}, [](graph&, list x) { return nn::relative_shift(x[0]); });
  const check c{.inputs = {{1, 2, 2}, {1, 2, 2}},
                .build = [](graph&, list x) { return nn::multi_head_attention(x[0], {.heads = 1, .memory = x[1]}); }};
  const function f{c, false};
  const auto into_memory = f.gradients_at(f.start)[1];
  CHECK(into_memory == f64({1, 2, 2}, {0, 0, 0, 0}));
}

TEST_CASE("attention over a batch that is not known keeps its shape") {
  graph g;
  const symbol x = g.placeholder("x", dtype::float32, {g.unknown("batch"), 4, 6});
  CHECK(nn::multi_head_attention(x, {.heads = 3, .units = 5, .causal = true}).dims()
        == symbol_shape{g.unknown("batch"), 4, 5});
  const symbol m = g.placeholder("m", dtype::float32, {g.unknown("batch"), 2, 6});
  CHECK(
      nn::multi_head_attention(x, {.heads = 3, .memory = m, .relative = true, .dropout = 0.1, .training = true}).dims()
      == x.dims());
  CHECK_MESSAGE(g.status(), (g.status() ? "" : to_text(g.status().error())));
}

TEST_CASE("attention refuses what does not fit, and says what it needs") {
  const auto x = [](graph& g) { return g.placeholder("x", dtype::float32, {2, 3, 4}); };
  const auto says = [](const std::string& text, const char* part) { return text.find(part) != std::string::npos; };
  CHECK(says(refusal([&](graph& g) { return nn::multi_head_attention(x(g), {.heads = 3}); }),
             "heads must be at least 1 and divide the features"));
  CHECK(says(
      refusal([&](graph& g) { return nn::multi_head_attention(x(g), {.heads = 2, .head_units = int64_t{1} << 50}); }),
      "more than 2^48 elements"));
  CHECK(says(refusal([&](graph& g) { return nn::multi_head_attention(x(g), {.heads = 2, .dropout = 1}); }),
             "dropout must be in [0, 1)"));
  CHECK(says(refusal([&](graph& g) {
               return nn::multi_head_attention(x(g), {.heads = 2, .source = g.constant(f32({1, 1, 1}, {1}))});
             }),
             "source and memory must be of the dtype and batch of float32 [2, 3, 4], with known features, not float32 "
             "[1, 1, 1]"));
  CHECK(says(refusal([&](graph& g) {
               return nn::multi_head_attention(
                   x(g), {.heads = 2, .source = g.constant(tensor::zeros(dtype::float32, {2, 2, 4})), .causal = true});
             }),
             "needs known lengths, and at least as many keys as queries"));
  CHECK(says(refusal([&](graph& g) {
               return nn::multi_head_attention(x(g), {.heads = 2, .mask = g.constant(bools({2}, {true, false}))});
             }),
             "select"));
  CHECK(says(refusal([&](graph& g) {
               return nn::multi_head_attention(
                   x(g), {.heads = 2, .mask = g.constant(tensor::zeros(dtype::boolean, {5, 1, 1, 1, 1}))});
             }),
             "does not stretch to the scores"));
  CHECK(
      says(refusal([&](graph& g) {
             return nn::scaled_dot_product_attention(x(g), g.constant(f32({1, 1}, {1})), g.constant(f32({1, 1}, {1})));
           }),
           "needs floating [..., t, d], [..., s, d] and [..., s, e] and a boolean mask, not float32 [2, 3, 4], float32 "
           "[1, 1] and float32 [1, 1]"));
}

}  // namespace troupe
