// The algorithm of the AdaNet paper on data small enough to be followed by hand.
#include "examples/paper/adanet.hpp"
#include "examples/paper/cvx.hpp"
#include "examples/paper/pairs.hpp"
#include "examples/paper/plain.hpp"
#include "tests/examples/example_program.hpp"
#include "tests/support/temporary_directory.hpp"

#include <troupe/checkpoints.hpp>
#include <troupe/predict.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace troupe::test {

namespace {

/// Points of a square, labelled 1 inside of a ring: no line divides them.
struct ring_data {
  int64_t rows = 64;
  std::vector<float> x = {}, y = {};

  ring_data() {
    for (int64_t i = 0; i < rows; ++i) {
      const double a = std::fmod(static_cast<double>(i) * 0.618, 1) * 2 - 1, b = std::fmod(i * 0.732, 1) * 2 - 1;
      x.insert(x.end(), {static_cast<float>(a), static_cast<float>(b)});
      y.push_back(a * a + b * b < 0.6 ? 1.f : 0.f);
    }
  }
  dataset all() const {
    return *dataset::from_tensors({{"x", tensor::of<float>({rows, 2}, x)}}, {{"y", tensor::of<float>({rows}, y)}});
  }
};

double by_depth(int64_t layer) { return std::sqrt(static_cast<double>(layer)); }

paper::adanet_options small_options() {
  return {
      .units = 3, .lambda = 1e-3, .complexity = by_depth, .optimizer = adam{.rate = 0.02f}, .steps = 40, .rounds = 3};
}

run_config config_in(const temporary_directory& directory) {
  return {.model_dir = directory / "search", .seed = 3, .save_summary_steps = 0, .intra_op_threads = 1};
}

template <class T>
T value_of(expected<T> x) {
  REQUIRE_MESSAGE(x.has_value(), (x ? "" : to_text(x.error())));
  return std::move(*x);
}

using variables = std::map<std::string, tensor>;
std::string scope_of(const ensemble_member& m) {
  const auto t = std::to_string(m.iteration);
  return "adanet/iteration_" + t + "/subnetwork_t" + t + "_" + m.builder + "/";
}

/// The matrix product z·K + bias, with the columns of K cut to the 2-norm 1, and relu.
std::vector<double> layer_by_hand(const std::vector<double>& z, const tensor& kernel, const tensor& bias) {
  const auto k = kernel.as<float>(), b = bias.as<float>();
  REQUIRE(kernel.dims()[0] == static_cast<int64_t>(z.size()));
  std::vector<double> h;
  for (size_t unit = 0; unit < b.size(); ++unit) {
    double sum = 0, square = 0;
    for (size_t j = 0; j < z.size(); ++j) {
      sum += z[j] * k[j * b.size() + unit];
      square += static_cast<double>(k[j * b.size() + unit]) * k[j * b.size() + unit];
    }
    h.push_back(std::max(0.0, sum / std::max(1.0, std::sqrt(square)) + b[unit]));
  }
  return h;
}

/// f(x) of a grown network by the definition: layer k of a member reads layer k-1 of itself and of all before it.
double f_by_hand(const architecture& recipe, const variables& v, std::vector<double> x) {
  std::vector<std::vector<std::vector<double>>> layers;  // By member.
  double f = 0;
  for (const auto& member : recipe.members) {
    const auto depth = std::stoul(member.builder);
    std::vector<std::vector<double>> own;
    for (size_t k = 1; k <= depth; ++k) {
      std::vector<double> z = k == 1 ? x : own.back();
      for (const auto& earlier : layers)
        if (k > 1 && earlier.size() >= k - 1)
          z.insert(z.end(), earlier[k - 2].begin(), earlier[k - 2].end());
      const auto name = scope_of(member) + "layer_" + std::to_string(k);
      own.push_back(layer_by_hand(z, v.at(name + "/kernel"), v.at(name + "/bias")));
    }
    const auto w = v.at(scope_of(member) + "w").as<float>();
    for (size_t i = 0; i < w.size(); ++i)
      f += w[i] * own.back()[i];
    layers.push_back(std::move(own));
  }
  return f;
}

/// F of a grown network over the rows.
double objective_by_hand(const paper::adanet_options& o, const architecture& recipe, const variables& v,
                         const ring_data& data) {
  double sum = 0;
  for (size_t i = 0; i < data.y.size(); ++i) {
    const double y = data.y[i] > 0 ? 1 : -1;
    sum += paper::surrogate(1 - y * f_by_hand(recipe, v, {data.x[2 * i], data.x[2 * i + 1]}));
  }
  double result = sum / static_cast<double>(data.rows);
  for (const auto& member : recipe.members)
    for (const float w : v.at(scope_of(member) + "w").as<float>())
      result += o.lambda * o.complexity(std::stoll(member.builder)) * std::abs(w);
  return result;
}

/// e_1 of a network with these f, by the definition.
std::vector<double> first_correlations(const ring_data& data, const std::vector<double>& f) {
  std::vector<double> e(2);
  double sum = 0;
  for (size_t i = 0; i < data.y.size(); ++i) {
    const double y = data.y[i] > 0 ? 1 : -1, d = paper::surrogate_slope(1 - y * f[i]);
    sum += d;
    for (size_t j = 0; j < 2; ++j)
      e[j] += d * y * data.x[2 * i + j];
  }
  return {e[0] / sum, e[1] / sum};
}

paper::cvx_options cvx_small() { return {.weight_norm = 2, .lambda = 1e-4, .complexity = by_depth, .rounds = 8}; }

}  // namespace

TEST_CASE("a unit of layer k reads layer k-1 of its own subnetwork and of each earlier one that has it") {
  graph g;
  const extent rows = g.unknown("batch");
  std::multiset<std::string> read;
  const previous_outputs previous{.recipe = {.members = {{0, "1_layer"}, {1, "2_layer"}}},
                                  .output = [&](size_t i, const std::string& name) {
                                    read.insert(std::to_string(i) + " " + name);
                                    return g.placeholder(std::to_string(i) + name, dtype::float32, {rows, 3});
                                  }};
  const build_context c{.features = {&g, {{"x", g.placeholder("x", dtype::float32, {rows, 2})}}},
                        .labels = {&g, {}},
                        .logits_dimension = 1,
                        .iteration = 2,
                        .previous = &previous};
  const auto made = paper::subnetwork_builder(small_options(), 3).build(g, c);
  REQUIRE_MESSAGE(g.status(), (g.status() ? "" : to_text(g.status().error())));
  CHECK(read == std::multiset<std::string>{"0 layer_1", "1 layer_1", "1 layer_2"});
  CHECK(made.outputs.size() == 3);
  const auto text = g.to_text();
  for (const char* kernel :
       {"layer_1/kernel: float32 [2, 3]", "layer_2/kernel: float32 [9, 3]", "layer_3/kernel: float32 [6, 3]"})
    CHECK_MESSAGE(text.find(kernel) != std::string::npos, text);
}

TEST_CASE("each round lowers F, and f is what the saved weights of all members say") {
  const ring_data data;
  const auto o = small_options();
  temporary_directory directory;
  double before = paper::surrogate(1);
  int64_t rounds = 0;
  const auto judge = [&](const paper::grown_network& grown) -> expected<bool> {
    CHECK(static_cast<int64_t>(grown.recipe.members.size()) == ++rounds);
    const auto v = value_of(load_variables(directory / "search"));
    const double now = objective_by_hand(o, grown.recipe, v, data);
    CHECK(now < before);
    before = now;
    auto stream = value_of(predict(grown.network, {.input = data.all().batch(8), .keys = {"logits"}}));
    size_t row = 0;
    for (const auto& one : stream) {
      CHECK(one.values.at("logits").as<float>()[0]
            == doctest::Approx(f_by_hand(grown.recipe, v, {data.x[2 * row], data.x[2 * row + 1]})).epsilon(1e-4));
      ++row;
    }
    CHECK(stream.status().has_value());
    CHECK(row == data.y.size());
    return true;
  };
  const auto grown = value_of(
      paper::grow(o, data.all().shuffle().batch(16).repeat(), data.all().batch(16), config_in(directory), judge));
  CHECK(rounds == 3);
  CHECK(grown.trained == 6);
}

TEST_CASE("a search ends in the round that does not lower F") {
  const ring_data data;
  auto o = small_options();
  o.lambda = 1000;  // Every weight costs more than it is worth.
  temporary_directory directory;
  const auto grown = value_of(
      paper::grow(o, data.all().shuffle().batch(16).repeat(), data.all().batch(16), config_in(directory)));
  CHECK(grown.recipe.members.size() == 1);
  CHECK(grown.trained == 4);
}

TEST_CASE("a search ends where its caller says so, with the network of that round") {
  const ring_data data;
  temporary_directory directory;
  const auto grown = value_of(paper::grow(small_options(), data.all().batch(16).repeat(), data.all().batch(16),
                                          config_in(directory),
                                          [](const paper::grown_network&) { return expected<bool>{false}; }));
  CHECK(grown.recipe.members.size() == 1);
  CHECK(grown.trained == 2);
}

TEST_CASE("the candidates of a round are as deep as the deepest member, and deeper by a layer") {
  const auto generate = paper::two_depths(small_options());
  const auto names = [&](std::optional<architecture> previous) {
    std::vector<std::string> all;
    for (const auto& b : generate({.previous = std::move(previous)}))
      all.push_back(b.name);
    return all;
  };
  CHECK(names({}) == std::vector<std::string>{"1_layer", "2_layer"});
  CHECK(names(architecture{.members = {{0, "2_layer"}, {1, "1_layer"}}})
        == std::vector<std::string>{"2_layer", "3_layer"});
}

TEST_CASE("the complexity of a layer is the paper's bound, and grows by twice the root of the width below") {
  const paper::complexity_options o{.inputs = 9, .units = 4, .examples = 50, .input_max = 3, .weight_norm = 0.5};
  const double first = 3 * (2 * 0.5) * std::sqrt(9.0) * std::sqrt(std::log(18.0) / 100);
  CHECK(paper::layer_complexity(1, o) == doctest::Approx(first));
  CHECK(paper::layer_complexity(2, o) == doctest::Approx(first * 2));
  CHECK(paper::layer_complexity(3, o) == doctest::Approx(first * 4));
}

TEST_CASE("a unit of AdaNet.CVX has the direction of the correlations and the norm of its bound") {
  const ring_data data;
  auto o = cvx_small();
  std::vector<double> f(data.y.size());  // Of the network so far, by hand.
  const auto judge = [&](const paper::cvx_grown& grown) -> expected<void> {
    const auto& unit = grown.network.back();
    if (unit.layer == 1) {
      const auto e = first_correlations(data, f);
      const double norm = std::hypot(e[0], e[1]);
      REQUIRE(unit.weights.size() == 2);
      for (size_t j = 0; j < 2; ++j)
        CHECK(unit.weights[j] == doctest::Approx(o.weight_norm * e[j] / norm).epsilon(1e-3));
    }
    double square = 0;
    for (const float w : unit.weights)
      square += static_cast<double>(w) * w;
    CHECK(std::sqrt(square) == doctest::Approx(o.weight_norm));
    auto stream = value_of(predict({paper::cvx_model(grown.network)},
                                   {.input = data.all().batch(16), .keys = {"f"}, .single_examples = true}));
    size_t row = 0;
    for (const auto& one : stream)
      f[row++] = one.values.at("f").as<float>()[0];
    return {};
  };
  const auto grown = value_of(paper::grow_cvx(o, {data.all().batch(16), data.y}, judge));
  REQUIRE(grown.objective.size() == grown.network.size());
  REQUIRE(grown.network.size() > 1);
  CHECK(grown.objective.front() < paper::surrogate(1));
  CHECK(std::is_sorted(grown.objective.rbegin(), grown.objective.rend()));
  CHECK(std::any_of(grown.network.begin(), grown.network.end(), [](const auto& u) { return u.layer == 2; }));
}

TEST_CASE("AdaNet.CVX adds to the layer of the greatest correlation less the penalty, or to none") {
  const std::vector<std::vector<double>> e{{0.3, 0.4}, {0.6}};
  paper::cvx_options o{.weight_norm = 1, .complexity = by_depth};
  CHECK(paper::best_unit(e, o)->layer == 2);
  o.lambda = 0.3;  // 0.5 - 0.3 against 0.6 - 0.3·√2.
  const auto unit = paper::best_unit(e, o);
  REQUIRE(unit);
  CHECK(unit->layer == 1);
  CHECK(unit->weights == std::vector{0.6f, 0.8f});
  o.lambda = 0.5;
  CHECK_FALSE(paper::best_unit(e, o));
}

TEST_CASE("the line search finds the least F, to both sides of 0 and, with a high penalty, at 0") {
  const std::vector<double> yf{0.1, -0.4, 0.3, 0.2}, yu{1, 0.5, -0.7, 0.3};
  const auto f_at = [&](double w, double sign, double penalty) {
    double sum = 0;
    for (size_t i = 0; i < yf.size(); ++i)
      sum += paper::surrogate(1 - yf[i] - w * sign * yu[i]);
    return sum / 4 + penalty * std::abs(w);
  };
  for (const double sign : {1.0, -1.0}) {
    std::vector<double> turned = yu;
    for (double& one : turned)
      one *= sign;
    const double w = paper::line_search(yf, turned, 0.01);
    CHECK(w * sign > 0);
    for (const double off : {-1e-2, 1e-2})
      CHECK(f_at(w, sign, 0.01) < f_at(w + off, sign, 0.01));
  }
  CHECK(paper::line_search(yf, yu, 1) == 0);
}

TEST_CASE("the folds share no picture, every picture is tested once, and the classes become 0 and 1") {
  const auto images = *dataset::from_tensors(
      {{"pixels", tensor::zeros(dtype::float32, {1500, paper::pictures::pixels})}},
      {{"label", tensor::of<int32_t>({1500}, [] {
          std::vector<int32_t> labels(1500);
          for (size_t i = 0; i < labels.size(); ++i)
            labels[i] = static_cast<int32_t>(i % 10);
          return labels;
        }())}});
  const auto pair = value_of(paper::pictures_of({"a-b", 2, 6}, images));
  REQUIRE(pair.count() == 300);
  CHECK(std::count(pair.labels.begin(), pair.labels.end(), 1.f) == 150);
  int64_t tested = 0;
  for (int64_t which = 0; which < 3; ++which) {
    const auto f = paper::fold_of(pair, which, 3);
    tested += f.test.count();
    CHECK(f.validation.count() == 50);
    CHECK(f.training.count() == 100);  // 150, in whole batches.
  }
  CHECK(tested == 300);
}

TEST_CASE("pixels are standardised by the training part, and each example has a constant 1 behind them") {
  using paper::pictures;
  pictures all{.features = std::vector<float>(static_cast<size_t>(300 * pictures::inputs), 0.5f),
               .labels = std::vector<float>(300, 1)};
  const auto first_pixel = [](const pictures& p, int64_t row) {
    return p.features[static_cast<size_t>(row * pictures::inputs)];
  };
  for (int64_t row = 0; row < 300; ++row) {
    all.features[static_cast<size_t>(row * pictures::inputs)] = static_cast<float>(row);
    all.features[static_cast<size_t>(row * pictures::inputs + pictures::pixels)] = 1;
  }
  const auto f = paper::fold_of(all, 0, 3);
  double mean = 0, square = 0;
  for (int64_t row = 0; row < 100; ++row) {
    mean += first_pixel(f.training, row) / 100;
    square += first_pixel(f.training, row) * first_pixel(f.training, row) / 100;
  }
  CHECK(mean == doctest::Approx(0).epsilon(1e-6));
  CHECK(square == doctest::Approx(1).epsilon(0.01));
  CHECK_MESSAGE(std::abs(f.training.features[1]) < 1e-6, "a pixel that does not vary");
  // The first two rows of the training part are 2 and 4, those of the test part 0 and 3: the scale is the same.
  const float of_two_rows = first_pixel(f.training, 1) - first_pixel(f.training, 0);
  CHECK(first_pixel(f.test, 1) - first_pixel(f.test, 0) == doctest::Approx(1.5 * of_two_rows));
  for (const auto* part : {&f.training, &f.validation, &f.test})
    for (int64_t row = 0; row < part->count(); ++row)
      CHECK(part->features[static_cast<size_t>(row * pictures::inputs + pictures::pixels)] == 1);
}

TEST_CASE("the comparison refuses a pair and a fold that there are not, and names those that there are") {
  example_program unknown{{EXAMPLE_ADANET_PAPER, "--pair", "bag-dress", "--work", "nowhere"}};
  CHECK(unknown.finish() != 0);
  CHECK_MESSAGE(unknown.text().find("T-shirt-shirt") != std::string::npos, unknown.text());
  example_program beyond{{EXAMPLE_ADANET_PAPER, "--pair", "coat-shirt", "--fold", "3", "--work", "nowhere"}};
  CHECK(beyond.finish() == 1);
  CHECK_MESSAGE(beyond.text().find("--fold must be below --folds, 3, not 3") != std::string::npos, beyond.text());
}

}  // namespace troupe::test
