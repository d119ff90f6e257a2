// The ready-made dense models: their variables, the options that they refuse, and that they learn.
#include "compute/program/program.hpp"
#include "models/model_spec.hpp"
#include "tests/support/has.hpp"
#include "tests/support/temporary_directory.hpp"

#include <troupe/canned_models.hpp>
#include <troupe/estimator.hpp>
#include <troupe/inspect.hpp>
#include <troupe/predict.hpp>
#include <troupe/vocabulary.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>

namespace troupe {

using test::has;

namespace {

struct built {
  graph g;
  model_spec spec;
  std::map<std::string, shape> variables;
};

/// Features "a" [batch, 2] and "b" [batch, 3, 1], and a label of the given dtype and shape.
std::unique_ptr<built> build(const model& what, mode m, dtype label = dtype::int32, symbol_shape label_dims = {}) {
  auto b = std::make_unique<built>();
  const extent batch = b->g.unknown("batch");
  const features x{&b->g,
                   {{"b", b->g.placeholder("b", dtype::float32, {batch, 3, 1})},
                    {"a", b->g.placeholder("a", dtype::float32, {batch, 2})}}};
  label_dims.insert(label_dims.begin(), batch);
  labels y{&b->g, {}};
  if (m != mode::predict)
    y = labels{&b->g, {{"y", b->g.placeholder("y", label, label_dims)}}};
  b->spec = what.build(b->g, x, y, m);
  if (const auto layout = parameter_layout::of(b->g, std::nullopt))
    for (const auto& e : layout->entries())
      b->variables[e.name] = e.dims;
  return b;
}

std::string refusal(const model& what, mode m = mode::train, dtype label = dtype::int32, symbol_shape label_dims = {}) {
  const auto b = build(what, m, label, std::move(label_dims));
  const auto ok = check(b->spec, b->g, m);
  REQUIRE_FALSE(ok);
  CHECK(ok.error().category == errc::invalid_argument);
  return ok.error().message;
}

/// Examples with the features "a" and "b", labelled with the linear function a - 2 b + 1.
struct line {
  std::vector<float> a, b, y;
  line() {
    for (int i = 0; i < 40; ++i) {
      a.push_back(static_cast<float>(i % 8) / 8);
      b.push_back(static_cast<float>(i % 5) / 5);
      y.push_back(a.back() - 2 * b.back() + 1);
    }
  }
  dataset data() const {
    return *dataset::from_tensors({{"a", tensor::of<float>({40}, a)}, {"b", tensor::of<float>({40}, b)}},
                                  {{"y", tensor::of<float>({40}, y)}});
  }
};

}  // namespace

TEST_CASE(
    "dense models have the Estimator's variables: a dnn over all features side by side, a linear model with weights "
    "for each") {
  using variables = std::map<std::string, shape>;
  for (mode m : {mode::train, mode::evaluate, mode::predict}) {
    const auto classifier = build(dnn_classifier({.hidden_units = {7}, .classes = 4, .dropout = 0.5}), m);
    CHECK(check(classifier->spec, classifier->g, m));
    CHECK(classifier->variables
          == variables{{"dnn/hiddenlayer_0/kernel", {5, 7}},
                       {"dnn/hiddenlayer_0/bias", {7}},
                       {"dnn/logits/kernel", {7, 4}},
                       {"dnn/logits/bias", {4}}});
    const auto regressor = build(dnn_regressor({.hidden_units = {7}, .label_dimension = 2}), m, dtype::float32, {2});
    CHECK(check(regressor->spec, regressor->g, m));
    CHECK(regressor->variables.at("dnn/logits/kernel") == shape{7, 2});
    const auto linear = build(linear_classifier({.classes = 4}), m);
    CHECK(check(linear->spec, linear->g, m));
    CHECK(linear->variables
          == variables{{"linear/linear_model/a/weights", {2, 4}},
                       {"linear/linear_model/b/weights", {3, 4}},
                       {"linear/linear_model/bias_weights", {4}}});
    const auto straight = build(linear_regressor({}), m, dtype::float32);
    CHECK(check(straight->spec, straight->g, m));
    CHECK(straight->variables.at("linear/linear_model/bias_weights") == shape{1});
  }
}

TEST_CASE("options of dense models that cannot be are told with the model's name, the field and the value") {
  CHECK(has(refusal(dnn_regressor({.hidden_units = std::vector<int64_t>(5001, 4)}), mode::train, dtype::float32),
            "dnn_regressor: hidden_units can have 5000 layers, not 5001"));
  CHECK(has(refusal(dnn_regressor({.hidden_units = {4, 0}}), mode::train, dtype::float32),
            "dnn_regressor: hidden_units[1] must be at least 1, not 0"));
  CHECK(has(refusal(dnn_regressor({.label_dimension = 0}), mode::train, dtype::float32),
            "dnn_regressor: regression_head: label_dimension must be at least 1, not 0"));
  CHECK(has(refusal(linear_regressor({.label_dimension = -1}), mode::train, dtype::float32),
            "linear_regressor: regression_head: label_dimension must be at least 1, not -1"));
  CHECK(has(refusal(linear_classifier({}), mode::train),
            "linear_classifier: multi_class_head: classes must be at least 2, not 0"));
  CHECK(has(refusal(linear_classifier({.classes = 3, .vocabulary = {"a", "b"}})),
            "linear_classifier: multi_class_head: 3 classes cannot be called by the 2 words"));
  CHECK(has(refusal(dnn_classifier({.vocabulary = {"a", "b", "a"}})),
            "dnn_classifier: multi_class_head: the vocabulary has 'a' twice"));
  CHECK(has(refusal(dnn_classifier({.vocabulary = {"a"}})), "at least 2 words, not 1"));
  graph g;
  linear_regressor({}).build(g, features{&g, {}}, labels{&g, {}}, mode::predict);
  CHECK(has(g.status().error().message, "linear_regressor: the data have no features"));
}

TEST_CASE(
    "a regression head takes labels of the logits' shape, or a plain number where there is one, of any numeric dtype") {
  for (dtype type : {dtype::float32, dtype::float64, dtype::int32, dtype::int64, dtype::uint8})
    for (const symbol_shape& dims : {symbol_shape{}, symbol_shape{1}}) {
      const auto b = build(linear_regressor({}), mode::train, type, dims);
      const auto ok = check(b->spec, b->g, mode::train);
      CHECK_MESSAGE(ok.has_value(), (ok ? "" : to_text(ok.error())));
    }
  CHECK(has(refusal(linear_regressor({}), mode::train, dtype::float32, {2}),
            "the labels of a regression_head must be [batch, 1] or [batch], not [batch, 2]"));
  CHECK(has(refusal(linear_regressor({.label_dimension = 2}), mode::train, dtype::float32),
            "must be [batch, 2], not [batch]"));
}

TEST_CASE("the loss of a regression head is the mean squared error, and its metrics are means over all numbers") {
  graph g;
  const symbol logits = g.constant(tensor::of<float>({2, 2}, {1, 2, 3, 6}));
  const symbol label = g.constant(tensor::of<float>({2, 2}, {1, 0, 3, 3}));
  const auto spec = regression_head{2}.spec(g, {.mode = mode::evaluate, .logits = logits, .labels = label});
  REQUIRE(check(spec, g, mode::evaluate));
  auto p = program::make(g, spec, *parameter_layout::of(g, std::nullopt), {});
  REQUIRE_MESSAGE(p, (p ? "" : to_text(p.error())));
  REQUIRE((*p)->run({}) == step_status::ok);
  std::map<std::string, float> out;
  for (size_t i = 0; i < (*p)->outputs().size(); ++i) {
    const auto value = (*p)->output(static_cast<int32_t>(i));  // Sums of metrics may be float64.
    out[to_string((*p)->outputs()[i])] = value.type() == dtype::float64 ? static_cast<float>(value.as<double>()[0])
                                                                        : value.as<float>()[0];
  }
  CHECK((*p)->loss() == doctest::Approx((4 + 9) / 4.0));
  CHECK(out
        == std::map<std::string, float>{{"loss", 3.25f},
                                        {"average_loss/0", 13},
                                        {"average_loss/1", 4},
                                        {"label/mean/0", 7},
                                        {"label/mean/1", 4},
                                        {"prediction/mean/0", 12},
                                        {"prediction/mean/1", 4}});
}

TEST_CASE("a label of a regression head that is not finite is an error of the step, which names its row") {
  const std::vector<float> y{1, 2, 3, NAN};
  const auto wrong = dataset::from_tensors({{"x", tensor::of<float>({4, 1}, {1, 2, 3, 4})}},
                                           {{"y", tensor::of<float>({4}, std::span<const float>{y})}});
  REQUIRE(wrong);
  const estimator e{linear_regressor({}), {.seed = 5}};
  const auto trained = train(e, {.input = wrong->batch(4).repeat(), .max_steps = 3});
  REQUIRE_FALSE(trained);
  CHECK(trained.error().category == errc::invalid_argument);
  CHECK(has(to_text(trained.error()), "labels: nan at [3, 0] is not finite: check_numerics"));
}

TEST_CASE(
    "batch_norm stands behind every hidden layer under the Estimator's names, and keeps 0.999 of its statistics in a "
    "step") {
  for (const model& what : {dnn_classifier({.hidden_units = {4, 3}, .classes = 2, .batch_norm = true}),
                            dnn_regressor({.hidden_units = {4, 3}, .batch_norm = true})}) {
    const auto b = build(what, mode::train, what.name == "dnn_classifier" ? dtype::int32 : dtype::float32);
    CHECK(check(b->spec, b->g, mode::train));
    for (const char* name : {"gamma", "beta", "moving_mean", "moving_variance"}) {
      CHECK(b->variables.at("dnn/hiddenlayer_0/batchnorm_0/" + std::string{name}) == shape{4});
      CHECK(b->variables.at("dnn/hiddenlayer_1/batchnorm_1/" + std::string{name}) == shape{3});
    }
  }
  // Equal rows have the variance 0, so one step leaves 0.999 of the initial moving variance 1.
  test::temporary_directory directory;
  const auto alike = *dataset::from_tensors({{"x", tensor::of<float>({4, 1}, std::vector<float>(4, 1.0f))}},
                                            {{"y", tensor::of<float>({4}, std::vector<float>(4, 1.0f))}});
  REQUIRE(train({dnn_regressor({.hidden_units = {1}, .batch_norm = true}), {.model_dir = directory / "model"}},
                {.input = alike.batch(4), .max_steps = 1}));
  const auto left = inspect(directory / "model/model.ckpt-1", {.values = true});
  REQUIRE(left);
  int found = 0;
  for (const auto& t : std::get<checkpoint_description>(*left).tensors)
    if (t.name.ends_with("batchnorm_0/moving_variance")) {
      float variance = 0;
      std::memcpy(&variance, t.value->data(), sizeof variance);
      CHECK(variance == doctest::Approx(0.999).epsilon(1e-6));
      ++found;
    }
  CHECK(found == 1);
}

TEST_CASE("regressors of several features learn a line, and their metrics say so") {
  const line l;
  for (const model& what : {linear_regressor({.optimizer = adam{.rate = 0.05f}}),
                            dnn_regressor({.hidden_units = {16}, .optimizer = adam{.rate = 0.02f}})}) {
    CAPTURE(what.name);
    // Without a model directory, only a training job with evaluations can evaluate the trained state.
    const estimator e{what, {.seed = 5}};
    const auto fresh = evaluate(e, {.input = l.data().batch(8)});
    REQUIRE(fresh);
    const auto trained = train(e, {.input = l.data().shuffle().batch(8).repeat(), .max_steps = 1500});
    REQUIRE(trained);
    CHECK(trained->metrics.at("loss") < 0.01);
    CHECK(fresh->metrics.at("average_loss") > 0.1);
    double mean = 0;
    for (float y : l.y)
      mean += y / 40;
    CHECK(fresh->metrics.at("label/mean") == doctest::Approx(mean));
  }
}

TEST_CASE("a classifier with a vocabulary is trained on words, and predicts them") {
  const std::vector<std::string> kinds{"low", "high, very", "middle"};
  std::vector<float> x;
  std::vector<std::string> words;
  for (int i = 0; i < 30; ++i) {
    x.insert(x.end(), {i % 3 == 0 ? 1.0f : 0.0f, i % 3 == 1 ? 1.0f : 0.0f});
    words.push_back(kinds[static_cast<size_t>(i % 3)]);
  }
  const auto label = indices_of(words, kinds);
  REQUIRE(label);
  const auto data = *dataset::from_tensors({{"x", tensor::of<float>({30, 2}, x)}}, {{"label", *label}});
  for (const model& what :
       {linear_classifier({.optimizer = adam{.rate = 0.1f}, .vocabulary = kinds}),
        dnn_classifier({.hidden_units = {8}, .optimizer = adam{.rate = 0.1f}, .vocabulary = kinds})}) {
    CAPTURE(what.name);
    const auto trained = train({what, {.seed = 1}}, {.input = data.batch(30).repeat(), .max_steps = 100});
    REQUIRE_MESSAGE(trained, (trained ? "" : to_text(trained.error())));
    CHECK(trained->metrics.at("loss") < 0.1);
    auto stream = predict({what, {.seed = 1}}, {.input = data.batch(30), .keys = {"class_ids", "classes"}});
    REQUIRE(stream);
    for (int i = 0; i < 3; ++i) {
      const auto next = stream->next();
      REQUIRE_MESSAGE(next, (next ? "" : to_text(next.error())));
      const auto& one = **next;
      CHECK(one.texts.at("classes")
            == std::vector<std::string>{kinds[static_cast<size_t>(one.values.at("class_ids").as<int64_t>()[0])]});
    }
  }
}

}  // namespace troupe
