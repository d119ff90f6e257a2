#include "models/model_spec.hpp"
#include "tests/support/has.hpp"

#include <troupe/canned_models.hpp>

#include <doctest/doctest.h>

namespace troupe {

using test::has;

namespace {

struct built {
  graph g;
  model_spec spec;
};

std::unique_ptr<built> build(dnn_classifier_options options, mode m, symbol_shape pixels = {28, 28},
                             dtype type = dtype::float32) {
  auto b = std::make_unique<built>();
  const extent batch = b->g.unknown("batch");
  symbol_shape dims{batch};
  dims.insert(dims.end(), pixels.begin(), pixels.end());
  const features x{&b->g, {{"pixels", b->g.placeholder("pixels", type, dims)}}};
  labels y{&b->g, {}};
  if (m != mode::predict)
    y = labels{&b->g, {{"label", b->g.placeholder("label", dtype::int32, {batch})}}};
  b->spec = dnn_classifier(std::move(options)).build(b->g, x, y, m);
  return b;
}

std::string refused(dnn_classifier_options options) {
  auto b = build(std::move(options), mode::train);
  auto ok = check(b->spec, b->g, mode::train);
  REQUIRE_FALSE(ok);
  CHECK(ok.error().category == errc::invalid_argument);
  return ok.error().message;
}

}  // namespace

TEST_CASE("a classifier builds in every mode, under the Estimator's variable names") {
  for (mode m : {mode::train, mode::evaluate, mode::predict})
    for (const symbol_shape& pixels :
         {symbol_shape{28, 28}, symbol_shape{784}, symbol_shape{28, 28, 3}, symbol_shape{}}) {
      auto b = build({.hidden_units = {16, 8}, .classes = 10, .dropout = 0.5}, m, pixels);
      const auto ok = check(b->spec, b->g, m);
      CHECK_MESSAGE(ok.has_value(), (ok ? "" : to_text(ok.error())));
      const auto text = b->g.to_text();
      for (const char* name :
           {"dnn/hiddenlayer_0/kernel", "dnn/hiddenlayer_0/bias", "dnn/hiddenlayer_1/kernel", "dnn/logits/kernel"})
        CHECK(has(text, name));
      CHECK((has(text, "dropout")) == (m == mode::train));
    }
}

TEST_CASE("a classifier without hidden layers is a softmax regression") {
  auto b = build({.classes = 3}, mode::train);
  CHECK(check(b->spec, b->g, mode::train));
}

TEST_CASE("options that cannot be are errors of the graph, naming option and value") {
  CHECK(has(refused({.hidden_units = {4}, .classes = 1}), "classes must be at least 2, not 1"));
  CHECK(has(refused({.hidden_units = {4, 0}, .classes = 3}), "hidden_units[1] must be at least 1, not 0"));
  CHECK(has(refused({.classes = 3, .dropout = 1}), "dropout must be in [0, 1), not 1"));
  CHECK(has(refused({.classes = 3, .optimizer = adam{.rate = 0}}), "rate"));
}

TEST_CASE("a feature that is not float32 is refused by name") {
  auto b = build({.classes = 3}, mode::train, {4}, dtype::int32);
  const auto e = b->g.status().error();
  CHECK(e.category == errc::type);
  CHECK(has(e.message, "feature 'pixels' must be float32, not int32"));
}

}  // namespace troupe
