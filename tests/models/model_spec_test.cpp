#include "models/model_spec.hpp"

#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe {

using test::has;

namespace {

symbol number(graph& g) { return g.constant(tensor::scalar(1.0f)); }
symbol ones(graph& g, const shape& dims) { return g.constant(tensor::zeros(dtype::float32, dims)); }

/// The message of `check`'s error; empty for a valid spec.
std::string refused(const model_spec& spec, const graph& g) {
  auto ok = check(spec, g, *spec.mode);
  if (!ok)
    CHECK(ok.error().category == errc::invalid_argument);
  return ok ? "" : ok.error().message;
}

}  // namespace

TEST_CASE("[EST-16] a spec lacks nothing that its mode needs, and the error names what is missing") {
  graph g;
  CHECK(refused({.mode = mode::train, .loss = number(g), .optimizer = adam{}}, g) == "");
  CHECK(refused({.mode = mode::train, .optimizer = adam{}}, g) == "a model needs a loss to train");
  CHECK(refused({.mode = mode::train, .loss = number(g)}, g) == "a model needs an optimizer to train");
  CHECK(refused({.mode = mode::evaluate, .loss = number(g)}, g) == "");
  CHECK(refused({.mode = mode::evaluate}, g) == "a model needs a loss to evaluate");
  CHECK(refused({.mode = mode::predict, .predictions = {{"class_ids", number(g)}}}, g) == "");
  CHECK(refused({.mode = mode::predict}, g) == "a model needs predictions to predict");
}

TEST_CASE("[EST-16] a loss has exactly one element") {
  graph g;
  CHECK(refused({.mode = mode::evaluate, .loss = ones(g, {1})}, g) == "");
  CHECK(refused({.mode = mode::evaluate, .loss = ones(g, {1, 1})}, g) == "");
  CHECK(refused({.mode = mode::evaluate, .loss = ones(g, {2})}, g)
        == "the loss must be a scalar or one element, not [2]");
  const symbol rows = g.placeholder("x", dtype::float32, {g.unknown("batch")});
  CHECK(refused({.mode = mode::evaluate, .loss = rows}, g)
        == "the loss must be a scalar or one element, not [unknown]");
  CHECK(refused({.mode = mode::evaluate, .loss = g.constant(tensor::scalar<int32_t>(1))}, g)
        == "the loss must be floating, not int32");
}

TEST_CASE("[EST-32] a metric cannot be called loss or global_step") {
  graph g;
  for (const std::string name : {"loss", "global_step"})
    CHECK(refused({.mode = mode::evaluate, .loss = number(g), .metrics = {{name, {number(g), number(g)}}}}, g)
          == "'" + name + "' is a reserved name and cannot be that of a metric");
  CHECK(refused({.mode = mode::evaluate, .loss = number(g), .metrics = {{"loss_1", {number(g), number(g)}}}}, g) == "");
}

TEST_CASE("the sums of a metric are floating and of a known shape, and those of a ratio one number each") {
  graph g;
  const auto with = [&](metric m) {
    return refused({.mode = mode::evaluate, .loss = number(g), .metrics = {{"recall", std::move(m)}}}, g);
  };
  CHECK(with({symbol{}, number(g)}) == "sum 0 of metric 'recall' is not a symbol of any graph");
  const symbol yes = equal(number(g), number(g));
  CHECK(with({yes, number(g)}) == "sum 0 of metric 'recall' must be floating, not boolean");
  const symbol count = cast(number(g), dtype::int64);
  CHECK(with({number(g), count}) == "sum 1 of metric 'recall' must be floating, not int64");

  const auto nothing = [](std::span<const tensor>) -> metric_value { return 0.0; };
  CHECK(with({{ones(g, {3, 2})}, nothing}) == "");
  const symbol rows = g.placeholder("rows", dtype::float32, {g.unknown("batch")});
  CHECK(with({{rows}, nothing})
        == "sum 0 of metric 'recall' must have a known shape of at most 4194304 elements, not [unknown]");
  CHECK(with({{ones(g, {2049, 2048})}, nothing})
        == "sum 0 of metric 'recall' must have a known shape of at most 4194304 elements, not [2049, 2048]");
  CHECK(with(metric{}) == "metric 'recall' has no sums: make it by a function of troupe::metrics, or give both");
  CHECK(with({{number(g)}, nullptr})
        == "metric 'recall' has no function of its sums: make it by a function of troupe::metrics, or give both");
  const auto whole = with({number(g), ones(g, {3})});
  CHECK(whole.starts_with("the weight of a ratio_metric must be a scalar or one element, not [3] ("));
  CHECK(has(whole, "model_spec_test.cpp:"));  // The place where the spec was made.
}

TEST_CASE("a metric can be assigned the parts of a ratio by name, in their order, sums with a function, and nothing") {
  graph g;
  model_spec spec{.mode = mode::evaluate, .loss = number(g)};
  const symbol total = number(g), weight = number(g);
  const tensor totals[] = {tensor::scalar(3.0), tensor::scalar(4.0)};
  spec.metrics["named"] = {.total = total, .weight = weight};
  spec.metrics["ordered"] = {total, weight};
  spec.metrics["ratio"] = ratio_metric{total, weight};
  spec.metrics["own"] = {{total, weight},
                         [](std::span<const tensor> sums) -> metric_value { return 100 * sums[0].as<double>()[0]; }};
  for (const char* name : {"named", "ordered", "ratio"}) {
    CAPTURE(name);
    CHECK(std::get<double>(spec.metrics.at(name).result(totals)) == 0.75);
  }
  CHECK(std::get<double>(spec.metrics.at("own").result(totals)) == 300);
  CHECK(refused(spec, g) == "");
  spec.metrics["named"] = {};
  CHECK(spec.metrics.at("named").sums.empty());
  const ratio_metric half{.total = total};
  spec.metrics["named"] = half;
  CHECK(refused(spec, g) == "sum 1 of metric 'named' is not a symbol of any graph");
}

TEST_CASE("symbols of another graph are refused by name") {
  graph g, other;
  CHECK(refused({.mode = mode::train, .loss = number(other), .optimizer = adam{}}, g)
        == "the loss belongs to another graph");
  CHECK(refused({.mode = mode::predict, .predictions = {{"class_ids", number(other)}}}, g)
        == "prediction 'class_ids' belongs to another graph");
}

TEST_CASE("a spec of another mode, a bad optimizer and an error of the graph are each reported") {
  graph g;
  const model_spec spec{.mode = mode::evaluate, .loss = number(g)};
  CHECK(check(spec, g, mode::train).error().message
        == "the mode of the model's spec is evaluate, but it was built to train");
  CHECK(has(refused({.mode = mode::train, .loss = number(g), .optimizer = adam{.rate = -1}}, g), "rate"));
  g.invalid({errc::key_missing, "first"});
  CHECK(check(spec, g, mode::evaluate).error().category == errc::key_missing);
}

TEST_CASE("a spec that does not say its mode is of the mode that it was built for") {
  graph g;
  const model_spec spec{.loss = number(g)};
  CHECK(check(spec, g, mode::evaluate));
  CHECK(check(spec, g, mode::train).error().message == "a model needs an optimizer to train");
  CHECK(check(spec, g, mode::predict).error().message == "a model needs predictions to predict");
}

namespace {

/// Where the error of the model's spec points to: "<file>:<line>)".
std::string place_of_error(const model& m) {
  graph g;
  const auto whole = checked(m);
  REQUIRE(whole);
  (*whole)->build(g, named_symbols{&g, {}}, named_symbols{&g, {}}, mode::evaluate);
  REQUIRE_FALSE(g.status());
  const std::string message = g.status().error().message;
  CHECK(message.starts_with("a model needs a loss to evaluate ("));
  return message.substr(message.rfind('/') + 1);
}

std::string here(int line) { return "model_spec_test.cpp:" + std::to_string(line) + ")"; }

}  // namespace

TEST_CASE("an error of a spec points to the braces that it was made with, and without braces to its model's") {
  const model braces{"mine",
                     [](graph&, const features&, const labels&, mode) -> model_spec { return {.optimizer = adam{}}; }};
  CHECK(place_of_error(braces) == here(__LINE__ - 1));
  const model plain{"mine", [](graph&, const features&, const labels&, mode) {
                      model_spec spec;
                      spec.optimizer = adam{};
                      return spec;
                    }};
  CHECK(place_of_error(plain) == here(__LINE__ - 1));  // The line where the braces end.
}

TEST_CASE("what a mode does not need is not looked at") {
  graph g, other;
  CHECK(refused({.mode = mode::train, .loss = number(g), .optimizer = adam{}, .predictions = {{"p", number(other)}}}, g)
        == "");
  CHECK(refused({.mode = mode::predict, .loss = ones(g, {7}), .predictions = {{"p", number(g)}}}, g) == "");
}

}  // namespace troupe
