// Metrics of a search beside those of its head: of a metric function, and of builders' reports.
#include "tests/ensemble/graphs/small_search.hpp"

#include <troupe/metrics.hpp>

#include <algorithm>

namespace troupe::test {

namespace {

using own_metrics = std::map<std::string, metric>;

std::map<std::string, double> metrics_in(const small_search& s, const std::string& spec) {
  return metrics_of(composite_of(s, s.parts()).evaluate(s.data), spec);
}

tensors without_labels(tensors data) {
  data.erase("y");
  return data;
}

}  // namespace

TEST_CASE(
    "[ADA-22.12 metric functions] a metric function reads predictions, features and labels, any or none of them") {
  auto o = small_options();
  o.metric_fn = [](graph&, const metric_context& c) -> own_metrics {
    return {{"label", metrics::mean(c.labels.only())},
            {"most", metrics::mean(reduce_max(c.predictions.at("probabilities"), {.axes = {1}}))},
            {"first", metrics::sum(slice(c.features["x"], 1, 0, 1))}};
  };
  small_search s{o};
  const auto winner = s.candidates()[0];
  group_run predicting{winner_model(s.basis, winner), without_labels(s.data), mode::predict};
  predicting.load(s.variables());
  const auto probabilities = predicting.run(without_labels(s.data)).at("probabilities");
  double most = 0;
  for (size_t row = 0; row < 8; ++row)
    most += static_cast<double>(std::max(probabilities.as<float>()[2 * row], probabilities.as<float>()[2 * row + 1]));
  const auto own = metrics_in(s, winner.spec);
  CHECK(own.at("label") == .5);
  CHECK(own.at("most") == doctest::Approx(most / 8));
  CHECK(own.at("first") == doctest::Approx(3.6));
  o.metric_fn = [](graph& g, const metric_context&) -> own_metrics {
    const symbol one = g.constant(tensor::scalar(1.f));
    return {{"one", ratio_metric{one, one}}};
  };
  CHECK(metrics_in(small_search{o}, "t0_a_grow_complexity_regularized").at("one") == 1);
}

TEST_CASE(
    "[ADA-22.12 metric functions] a metric function is called to evaluate each spec, and never to train or predict") {
  int calls = 0;
  auto o = small_options();
  o.metric_fn = [&calls](graph&, const metric_context& c) -> own_metrics {
    ++calls;
    return {{"label", metrics::mean(c.labels.only())}};
  };
  small_search s{o};
  s.train(1);
  const auto winner = winner_model(s.basis, s.candidates()[0]);
  group_run{winner, without_labels(s.data), mode::predict};
  CHECK(calls == 0);
  group_run{winner, s.data, mode::evaluate};
  CHECK(calls == 1);
  composite_of(s, s.parts());
  CHECK(calls == 1 + 2 + 2);  // Two subnetworks, two ensembles.
}

TEST_CASE("[ADA-22.12 metric names] a metric function replaces metrics of the head, and gets predictions by head") {
  auto o = small_options();
  CHECK(metrics_in(small_search{o}, "t0_a").at("accuracy") != doctest::Approx(.390625));
  o.metric_fn = [](graph&, const metric_context& c) -> own_metrics {
    return {{"accuracy", metrics::mean(c.features["x"])}, {"loss", metrics::sum(c.labels.only())}};
  };
  for (const std::string spec : {"t0_a", "t0_b_grow_complexity_regularized"}) {
    const auto own = metrics_in(small_search{o}, spec);
    CHECK(own.at("accuracy") == doctest::Approx(.390625));
    CHECK(own.at("loss") == 4);
    CHECK(own.at("head_loss") == metrics_in(small_search{small_options()}, spec).at("loss"));
  }
  CHECK_FALSE(metrics_in(small_search{small_options()}, "t0_a").contains("head_loss"));
  const small_search s{o};
  group_run winner{winner_model(s.basis, s.candidates()[0]), s.data, mode::evaluate};
  winner.load(s.variables());
  CHECK(winner.evaluate(s.data).at("accuracy") == doctest::Approx(.390625));

  o.metric_fn = [](graph&, const metric_context& c) -> own_metrics {
    return {{"head_loss", metrics::sum(c.labels.only())}};
  };
  const small_search reserved{o};
  const auto refused = built(composite_model(reserved.basis, reserved.parts()), reserved.data, mode::evaluate);
  REQUIRE_FALSE(refused);
  CHECK(has(refused.error().message, "'head_loss' is a reserved name"));

  o.head = multi_head{.heads = {{.name = "u", .head = multi_class_head{.classes = 2}, .label = "y"},
                                {.name = "v", .head = multi_class_head{.classes = 3}, .label = "y"}}};
  o.metric_fn = [](graph&, const metric_context& c) -> own_metrics {
    own_metrics elements;
    for (const std::string head : {"u", "v"})
      elements[head] = metrics::sum(c.predictions.at(head + "/probabilities") * 0.0 + 1.0);
    return elements;
  };
  const auto by_head = metrics_in(small_search{o}, "t0_b");
  CHECK(by_head.at("u") == 8 * 2);
  CHECK(by_head.at("v") == 8 * 3);
}

TEST_CASE("[ADA-22.12 metric updates] the result of a metric may have another shape than its sums") {
  auto o = small_options();
  o.metric_fn = [](graph&, const metric_context& c) -> own_metrics {
    const auto largest = [](std::span<const tensor> totals) -> metric_value {
      const auto sums = totals[0].as<double>();
      return *std::max_element(sums.begin(), sums.end());
    };
    return {{"largest", metric{{reduce_sum(cast(c.features["x"], dtype::float64), {.axes = {0}})}, largest}}};
  };
  small_search s{o};
  CHECK(composite_of(s, s.parts()).evaluate(s.data).at("t0_b/largest") == doctest::Approx(3.6));
}

TEST_CASE("[ADA-22.2 report metric] the mean of labels 1, 2 and 3 in a report is 2") {
  auto reporting = dense_builder("a", 3);
  reporting.report = [](graph&, const subnetwork&, const build_context& c) -> builder_report {
    return {.hparams = {{"units", int64_t{3}}}, .metrics = {{"label", metrics::mean(c.labels.only())}}};
  };
  auto o = small_options({reporting});
  o.head = regression_head{};
  const tensors data{{"x", tensor::of<float>({3, 2}, {1, 0, 0, 1, 1, 1})}, {"y", tensor::of<float>({3, 1}, {1, 2, 3})}};
  small_search s{o, {}, {}, data};
  auto parts = s.parts();
  parts.reports = true;
  CHECK(composite_of(s, parts).evaluate(data).at("t0_a/label") == 2);
  const auto own = own_reports(s.basis, element_of(data));
  REQUIRE(own);
  CHECK(own->at(0).hparams == report_values{{"units", int64_t{3}}});
}

}  // namespace troupe::test
