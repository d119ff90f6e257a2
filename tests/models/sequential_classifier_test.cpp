// Classifiers made of listed layers: their variables, the layers that they refuse, and that they learn.
#include "compute/program/program.hpp"
#include "models/model_spec.hpp"
#include "tests/support/has.hpp"
#include "tests/support/temporary_directory.hpp"

#include <troupe/estimator.hpp>
#include <troupe/predict.hpp>
#include <troupe/sequential.hpp>

#include <doctest/doctest.h>

namespace troupe {

using test::has;

namespace {

struct built {
  graph g;
  model_spec spec;
  std::map<std::string, shape> variables;
};

std::unique_ptr<built> build(const model& what, mode m,
                             const std::map<std::string, symbol_shape>& inputs = {{"pixels", {48}}},
                             dtype type = dtype::float32) {
  auto b = std::make_unique<built>();
  const extent batch = b->g.unknown("batch");
  std::map<std::string, symbol> x;
  for (auto [name, dims] : inputs) {
    dims.insert(dims.begin(), batch);
    x[name] = b->g.placeholder(name, type, dims);
  }
  labels y{&b->g, {}};
  if (m != mode::predict)
    y = labels{&b->g, {{"label", b->g.placeholder("label", dtype::int32, {batch})}}};
  b->spec = what.build(b->g, features{&b->g, x}, y, m);
  if (const auto layout = parameter_layout::of(b->g, std::nullopt))
    for (const auto& e : layout->entries())
      b->variables[e.name] = e.dims;
  return b;
}

std::string refusal(sequential_classifier_options options,
                    const std::map<std::string, symbol_shape>& inputs = {{"pixels", {48}}},
                    dtype type = dtype::float32) {
  const auto b = build(sequential_classifier(std::move(options)), mode::train, inputs, type);
  const auto ok = check(b->spec, b->g, mode::train);
  REQUIRE_FALSE(ok);
  return ok.error().message;
}

/// Images of 6 × 6 with one bright pixel; the class is the quarter of the image that contains it. A convolution with
/// pooling finds it anywhere in its quarter.
dataset quarters(int64_t count) {
  std::vector<float> x(static_cast<size_t>(count) * 36);
  std::vector<int32_t> y;
  uint64_t state = 7;
  for (int64_t i = 0; i < count; ++i) {
    state = state * 6364136223846793005 + 1442695040888963407;
    const auto row = static_cast<size_t>(state >> 33) % 6, column = static_cast<size_t>(state >> 43) % 6;
    x[static_cast<size_t>(i) * 36 + row * 6 + column] = 1;
    y.push_back(static_cast<int32_t>(row / 3 * 2 + column / 3));
  }
  return *dataset::from_tensors({{"pixels", tensor::of<float>({count, 36}, x)}},
                                {{"label", tensor::of<int32_t>({count}, y)}});
}

model small_network() {
  return sequential_classifier(
      {.layers = {layer::conv2d{.filters = 8, .kernel_size = {3, 3}, .padding = padding::same, .bias = false},
                  layer::batch_norm{.momentum = 0.9}, layer::activation{}, layer::max_pool{.size = {3, 3}},
                  layer::flatten{}, layer::dense{.units = 16, .activation = relu}, layer::dropout{.rate = 0.1}},
       .classes = 4,
       .input_shape = {6, 6, 1},
       .optimizer = adam{.rate = 0.01f}});
}

}  // namespace

TEST_CASE("every layer there is can be listed, and variables are called by layer and number") {
  const auto network = sequential_classifier(
      {.layers = {layer::conv2d{.filters = 4, .kernel_size = {3, 3}},
                  layer::conv2d{.filters = 6, .kernel_size = {1, 1}, .activation = relu}, layer::batch_norm{},
                  layer::depthwise_conv2d{.kernel_size = {2, 2}, .padding = padding::same},
                  layer::separable_conv2d{.filters = 5, .kernel_size = {2, 1}},
                  layer::conv2d_transpose{.filters = 3, .kernel_size = {2, 2}}, layer::activation{troupe::tanh},
                  layer::max_pool{.size = {2, 1}}, layer::average_pool{.size = {1, 1}}, layer::layer_norm{},
                  layer::flatten{}, layer::dense{.units = 7, .name = "wide"}, layer::dropout{}},
       .classes = 3,
       .input_shape = {6, 4, 2}});
  for (const mode m : {mode::train, mode::evaluate, mode::predict}) {
    const auto b = build(network, m);
    const auto ok = check(b->spec, b->g, m);
    CHECK_MESSAGE(ok, (ok ? "" : to_text(ok.error())));
    CHECK((has(b->g.to_text(), "dropout")) == (m == mode::train));
    CHECK(b->variables.at("conv2d/kernel") == shape{3, 3, 2, 4});
    CHECK(b->variables.at("conv2d_1/kernel") == shape{1, 1, 4, 6});
    CHECK(b->variables.at("batch_norm/moving_mean") == shape{6});
    CHECK(b->variables.at("depthwise_conv2d/depthwise_kernel") == shape{2, 2, 6, 1});
    CHECK(b->variables.at("separable_conv2d/pointwise_kernel") == shape{1, 1, 6, 5});
    CHECK(b->variables.at("conv2d_transpose/kernel") == shape{2, 2, 3, 5});
    CHECK(b->variables.at("layer_norm/gamma") == shape{3});
    CHECK(b->variables.at("wide/kernel") == shape{18, 7});
    CHECK(b->variables.at("logits/kernel") == shape{7, 3});
  }
  for (const sequential_layer& pool :
       {sequential_layer{layer::global_max_pool{}}, sequential_layer{layer::global_average_pool{}}})
    CHECK(build(sequential_classifier({.layers = {pool}, .classes = 2, .input_shape = {4, 4, 3}}), mode::train)
              ->variables.at("logits/kernel")
          == shape{3, 2});
}

TEST_CASE("logits are of all that the last layer yields, and without layers they are a softmax regression") {
  CHECK(build(sequential_classifier({.layers = {layer::conv2d{.filters = 2, .kernel_size = {3, 3}}},
                                     .classes = 3,
                                     .input_shape = {6, 8, 1}}),
              mode::train)
            ->variables.at("logits/kernel")
        == shape{4 * 6 * 2, 3});
  CHECK(build(sequential_classifier({.classes = 3}), mode::train)->variables.at("logits/kernel") == shape{48, 3});
}

TEST_CASE("one feature is taken as it is, several are put side by side in the order of their names") {
  const auto convolution = sequential_classifier(
      {.layers = {layer::conv2d{.filters = 2, .kernel_size = {2, 2}}}, .classes = 2});
  CHECK(build(convolution, mode::train, {{"image", {3, 3, 2}}})->variables.at("conv2d/kernel") == shape{2, 2, 2, 2});
  CHECK(build(sequential_classifier({.classes = 2}), mode::train, {{"a", {}}, {"b", {2, 3}}})
            ->variables.at("logits/kernel")
        == shape{7, 2});
  CHECK(build(sequential_classifier({.classes = 2}), mode::train, {{"a", {}}})->variables.at("logits/kernel")
        == shape{1, 2});
  CHECK(has(refusal({.classes = 2}, {{"a", {3}}}, dtype::int32),
            "sequential_classifier: feature 'a' must be float32, not int32"));
}

TEST_CASE("a layer that does not fit is named by its number and type, or by the place that is given") {
  const std::vector<sequential_layer> layers{layer::conv2d{.filters = 2, .kernel_size = {3, 3}},
                                             layer::max_pool{.size = {9, 9}}, layer::dense{}};
  CHECK(has(refusal({.layers = layers, .classes = 2, .input_shape = {6, 8, 1}}),
            "sequential_classifier: layers[1] (max_pool): max_pool: a window of {9, 9}, dilation {1, 1}, does not fit "
            "float32 [batch, 4, 6, 2]"));
  const auto placed = refusal(
      {.layers = layers, .classes = 2, .input_shape = {6, 8, 1}, .places = {"first", "cnn.toml:12: model.layers[1]"}});
  CHECK_MESSAGE(placed.starts_with("cnn.toml:12: model.layers[1] (max_pool): max_pool: a window of"), placed);
  CHECK(has(refusal({.layers = {layers[0]}, .classes = 2}),
            "layers[0] (conv2d): conv2d: operand must be floating [batch, height, width, channels] with known extents, "
            "not float32 [batch, 48]"));
  CHECK(has(refusal({.layers = {layer::flatten{}, layer::dropout{.rate = 1}}, .classes = 2}),
            "layers[1] (dropout): dropout: rate 1"));
}

TEST_CASE("an input shape and classes that cannot be are refused with what was given") {
  CHECK(has(refusal({.classes = 2, .input_shape = {6, 7}}),
            "sequential_classifier: an input_shape of [6, 7] does not hold the 48 numbers of an example"));
  CHECK(has(refusal({.classes = 2, .input_shape = {-6, -8}}),
            "input_shape must be at least 1 on every axis, not [-6, -8]"));
  CHECK(has(refusal({.classes = 2, .input_shape = {1, 1, 1, 1, 1, 1, 6, 8}}), "input_shape can have 7 axes, not 8"));
  CHECK(has(refusal({.classes = 2, .input_shape = {INT64_MAX, INT64_MAX}}), "does not hold the 48 numbers"));
  CHECK(has(refusal({.classes = 1}), "sequential_classifier: multi_class_head: classes must be at least 2, not 1"));
  CHECK(has(refusal({.classes = 2}, {}), "sequential_classifier: the data have no features"));
}

TEST_CASE(
    "a convolutional network learns where a bright pixel lies, and is evaluated and predicted from its checkpoint") {
  test::temporary_directory directory;
  const estimator e{small_network(), {.model_dir = directory / "model", .seed = 1}};
  const auto trained = train_and_evaluate(e, {.input = quarters(256).shuffle().batch(32).repeat(), .max_steps = 240},
                                          {.input = quarters(64).batch(32)});
  REQUIRE_MESSAGE(trained, (trained ? "" : to_text(trained.error())));
  CHECK(trained->metrics.at("accuracy") > 0.95);
  const auto again = evaluate(e, {.input = quarters(64).batch(64)});
  REQUIRE_MESSAGE(again, (again ? "" : to_text(again.error())));
  CHECK(again->metrics.at("accuracy") == doctest::Approx(trained->metrics.at("accuracy")));
  auto stream = predict(e, {.input = quarters(4).batch(4), .keys = {"probabilities"}});
  REQUIRE(stream);
  const auto first = stream->next();
  REQUIRE_MESSAGE(first, (first ? "" : to_text(first.error())));
  CHECK((*first)->values.at("probabilities").dims() == shape{4});
}

}  // namespace troupe
