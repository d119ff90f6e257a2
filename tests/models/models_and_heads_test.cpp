// Every ready-made model with every head: they build in each mode, learn, and do not use the weight feature as an
// input.
#include "compute/parameters/parameter_store.hpp"
#include "models/model_spec.hpp"
#include "tests/models/head_case.hpp"
#include "tests/support/temporary_directory.hpp"

#include <troupe/canned_models.hpp>
#include <troupe/sequential.hpp>

#include <cmath>

namespace troupe {

using namespace test;

namespace {

using maker = std::function<model(const head&)>;

std::map<std::string, maker> every_model() {
  const auto fast = adam{.rate = 0.05f};
  return {
      {"dnn_model", [=](const head& h) { return dnn_model({.hidden_units = {8}, .head = h, .optimizer = fast}); }},
      {"linear_model", [=](const head& h) { return linear_model({.head = h, .optimizer = fast}); }},
      // With the rates of the separate models, since its default rates need many more steps.
      {"dnn_linear_combined_model",
       [](const head& h) {
         return dnn_linear_combined_model(
             {.hidden_units = {8}, .head = h, .optimizer = adagrad{.rate = 0.05f}, .linear_rule = ftrl{.rate = 0.2f}});
       }},
      {"baseline_model", [](const head& h) { return baseline_model({.head = h}); }},
      {"sequential_model", [=](const head& h) {
         return sequential_model(
             {.layers = {layer::dense{.units = 8, .activation = relu}}, .head = h, .optimizer = fast});
       }}};
}

/// A head and the name of the label that it learns.
struct headed {
  head what;
  std::string label;
};
std::map<std::string, headed> every_head() {
  std::map<std::string, headed> all{
      {"binary_head", {binary_head{.weight_feature = "w"}, "sign"}},
      {"multi_class_head", {multi_class_head{.classes = 3, .weight_feature = "w"}, "third"}},
      {"multi_label_head", {multi_label_head{.classes = 2, .weight_feature = "w"}, "signs"}},
      {"poisson_head", {poisson_head{.weight_feature = "w"}, "count"}},
      {"regression_head", {regression_head{.weight_feature = "w"}, "sum"}}};
  multi_head both;
  for (const char* name : {"binary_head", "regression_head"})
    both.heads.push_back({.name = name, .head = all.at(name).what, .label = all.at(name).label});
  all["multi_head"] = {both, ""};
  return all;
}

/// 60 examples with x in [-1, 1)² and a weight, and the labels for all heads.
head_data examples() {
  std::vector<float> x, sum, w, signs;
  std::vector<int32_t> sign, third, count;
  for (int i = 0; i < 60; ++i) {
    const float a = static_cast<float>(i % 10) / 5 - 1, b = static_cast<float>(i * 7 % 12) / 6 - 1;
    x.insert(x.end(), {a, b});
    sum.push_back(a + 2 * b + 3);
    w.push_back(static_cast<float>(1 + i % 3));
    sign.push_back(a > b);
    third.push_back(a < -0.3f ? 0 : a < 0.3f ? 1 : 2);
    signs.insert(signs.end(), {a > 0 ? 1.0f : 0.0f, b > 0 ? 1.0f : 0.0f});
    count.push_back(static_cast<int32_t>(std::exp(a + 1)));
  }
  return {.features = {{"x", rows_of(2, x)}, {"w", numbers(w)}},
          .labels = {{"sum", numbers(sum)},
                     {"sign", numbers(sign)},
                     {"third", numbers(third)},
                     {"signs", rows_of(2, signs)},
                     {"count", numbers(count)}},
          .batch = 20};
}

head_data labelled(const std::string& label) {
  auto data = examples();
  if (!label.empty())
    data.labels = {{label, data.labels.at(label)}};
  return data;
}

/// The variables of a model that trains on these examples.
std::map<std::string, shape> variables_of(const model& m, const std::string& label) {
  graph g;
  const extent batch = g.unknown("batch");
  const auto data = labelled(label);
  const auto placed = [&](const columns& all) {
    std::map<std::string, symbol> symbols;
    for (const auto& [name, value] : all) {
      symbol_shape dims{batch};
      for (int axis = 1; axis < value.dims().rank(); ++axis)
        dims.emplace_back(value.dims()[axis]);
      symbols[name] = g.placeholder(name, value.type(), dims);
    }
    return symbols;
  };
  const auto spec = m.build(g, features{&g, placed(data.features)}, labels{&g, placed(data.labels)}, mode::train);
  const auto valid = check(spec, g, mode::train);
  REQUIRE_MESSAGE(valid, (valid ? "" : to_text(valid.error())));
  const auto layout = parameter_layout::of(g, spec.optimizer);
  REQUIRE_MESSAGE(layout, (layout ? "" : to_text(layout.error())));
  std::map<std::string, shape> names;
  for (const auto& e : layout->entries())
    names[e.name] = e.dims;
  return names;
}

}  // namespace

TEST_CASE(
    "every ready-made model learns under every head, is evaluated and predicts, and no weight of an example is an "
    "input of it") {
  for (const auto& [model_name, make] : every_model())
    for (const auto& [head_name, under] : every_head()) {
      CAPTURE(model_name);
      CAPTURE(head_name);
      const auto m = make(under.what);
      CHECK(m.name == model_name);
      const auto data = labelled(under.label).read();
      const estimator e{m, {.seed = 3}};
      const auto fresh = evaluate(e, {.input = data});
      REQUIRE_MESSAGE(fresh, (fresh ? "" : to_text(fresh.error())));
      const auto trained = train(e, {.input = data.repeat(), .max_steps = 120});
      REQUIRE_MESSAGE(trained, (trained ? "" : to_text(trained.error())));
      const double before = fresh->metrics.at("loss"), after = trained->metrics.at("loss");
      CHECK(after < before * (model_name == "baseline_model" ? 1.05 : 0.95));  // The last batch's loss, and all rows'.
      auto stream = predict(e, {.input = data});
      REQUIRE(stream);
      const auto first = stream->next();
      CHECK_MESSAGE(first, (first ? "" : to_text(first.error())));
    }
  const auto linear = variables_of(
      linear_model({.head = regression_head{.weight_feature = "w"}, .optimizer = gradient_descent{}}), "sum");
  CHECK(linear
        == std::map<std::string, shape>{{"linear/linear_model/x/weights", {2, 1}},
                                        {"linear/linear_model/bias_weights", {1}}});
}

TEST_CASE("a combined model has the Estimator's variables, FTRL for its linear part and Adagrad for the other") {
  const auto found = variables_of(
      dnn_linear_combined_model({.hidden_units = {4}, .head = regression_head{.weight_feature = "w"}}), "sum");
  using names = std::map<std::string, shape>;
  CHECK(found
        == names{{"dnn/hiddenlayer_0/kernel", {2, 4}},
                 {"dnn/hiddenlayer_0/kernel/Adagrad", {2, 4}},
                 {"dnn/hiddenlayer_0/bias", {4}},
                 {"dnn/hiddenlayer_0/bias/Adagrad", {4}},
                 {"dnn/logits/kernel", {4, 1}},
                 {"dnn/logits/kernel/Adagrad", {4, 1}},
                 {"dnn/logits/bias", {1}},
                 {"dnn/logits/bias/Adagrad", {1}},
                 {"linear/linear_model/x/weights", {2, 1}},
                 {"linear/linear_model/x/weights/Ftrl", {2, 1}},
                 {"linear/linear_model/x/weights/Ftrl_1", {2, 1}},
                 {"linear/linear_model/bias_weights", {1}},
                 {"linear/linear_model/bias_weights/Ftrl", {1}},
                 {"linear/linear_model/bias_weights/Ftrl_1", {1}}});
  const auto other = variables_of(dnn_linear_combined_model({.head = regression_head{},
                                                             .linear_rule = gradient_descent{},
                                                             .dnn_features = {"x"},
                                                             .linear_features = {"w"}}),
                                  "sum");
  CHECK(other
        == names{{"dnn/logits/kernel", {2, 1}},
                 {"dnn/logits/kernel/Adagrad", {2, 1}},
                 {"dnn/logits/bias", {1}},
                 {"dnn/logits/bias/Adagrad", {1}},
                 {"linear/linear_model/w/weights", {1, 1}},
                 {"linear/linear_model/bias_weights", {1}}});
}

namespace {

/// The optimizer of a combined model with `count` features.
optimizer optimizer_over(int count, dnn_linear_combined_model_options options) {
  graph g;
  std::map<std::string, symbol> x;
  for (int i = 0; i < count; ++i)
    x["x" + std::to_string(i)] = g.placeholder("x" + std::to_string(i), dtype::float32, {g.unknown("batch"), 1});
  options.head = regression_head{};
  const labels y{&g, {{"y", g.placeholder("y", dtype::float32, {g.unknown("batch")})}}};
  return *dnn_linear_combined_model(std::move(options)).build(g, features{&g, x}, y, mode::train).optimizer;
}

}  // namespace

TEST_CASE(
    "a combined model has the rates of the Estimator's: 0.001, and 0.005 or one over the root of the features where "
    "they are more than 40,000") {
  for (const auto& [count, rate] : {std::pair{1, 0.005f}, {25, 0.005f}, {62'500, 0.004f}})
    CHECK(to_text(optimizer_over(count, {}))
          == to_text(optimizer{.rule = adagrad{.rate = 0.001f},
                               .groups = {{.prefix = "linear/", .rule = ftrl{.rate = rate}}}}));
  const auto own = optimizer_over(
      2,
      {.optimizer = {.rule = adam{}, .groups = {{.prefix = "linear/", .rate_factor = 2}}}, .linear_rule = momentum{}});
  CHECK(to_text(own)
        == to_text(
            optimizer{.groups = {{.prefix = "linear/", .rate_factor = 2}, {.prefix = "linear/", .rule = momentum{}}}}));
}

TEST_CASE("a baseline model comes to the logit of how frequent a label is, whatever the features") {
  std::vector<int32_t> y(40, 0);
  std::fill(y.begin(), y.begin() + 10, 1);
  const auto data = *dataset::from_tensors({{"any", numbers<int64_t>(std::vector<int64_t>(40, 7))}},
                                           {{"y", numbers(y)}});
  temporary_directory directory;
  const estimator e{baseline_model({.head = binary_head{}}), {.model_dir = directory / "model", .seed = 1}};
  const auto trained = train_and_evaluate(e, {.input = data.batch(40).repeat(), .max_steps = 300},
                                          {.input = data.batch(40)});
  REQUIRE_MESSAGE(trained, (trained ? "" : to_text(trained.error())));
  CHECK(trained->metrics.at("prediction/mean") == doctest::Approx(0.25).epsilon(0.02));
  CHECK(trained->metrics.at("accuracy_baseline") == doctest::Approx(0.75));
  CHECK(trained->metrics.at("loss") == doctest::Approx(-0.25 * std::log(0.25) - 0.75 * std::log(0.75)).epsilon(0.01));
}

}  // namespace troupe
