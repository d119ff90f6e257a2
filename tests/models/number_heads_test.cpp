// Heads of numbers and of counts, and several heads on one model.
#include "tests/models/head_case.hpp"

#include <troupe/heads.hpp>

#include <cmath>
#include <numbers>

namespace troupe {

using namespace test;

namespace {

const std::vector<float> logits{1, -0.5f, 2, 0.25f, 0, 1.5f}, counted{3, 0, 7, 1, 0, 4}, weights{1, 2, 0, 0.5f, 1, 1};

head_data number_data() {
  return {.features = {{"logits", rows_of(1, logits)}, {"w", numbers(weights)}},
          .labels = {{"y", numbers(counted)}},
          .batch = 6};
}

double poisson_loss(double x, double y, bool full) {
  const double rest = y > 1 ? y * std::log(y) - y + std::log(2 * std::numbers::pi * y) / 2 : 0;
  return std::exp(x) - x * y + (full ? rest : 0);
}

template <class F>
double weighted_mean(F f) {
  double total = 0, weight = 0;
  for (size_t i = 0; i < logits.size(); ++i) {
    total += static_cast<double>(weights[i]) * f(static_cast<double>(logits[i]), static_cast<double>(counted[i]));
    weight += static_cast<double>(weights[i]);
  }
  return total / weight;
}

}  // namespace

TEST_CASE("a regression head weighs its examples in the loss and in every metric") {
  const auto m = metrics_of(regression_head{.weight_feature = "w"}, number_data());
  CHECK(m.at("average_loss")
        == doctest::Approx(weighted_mean([](double x, double y) { return (x - y) * (x - y); })).epsilon(1e-6));
  CHECK(m.at("label/mean") == doctest::Approx(weighted_mean([](double, double y) { return y; })));
  CHECK(m.at("prediction/mean") == doctest::Approx(weighted_mean([](double x, double) { return x; })));
  CHECK(m.at("loss") == doctest::Approx(m.at("average_loss") * 5.5 / 6).epsilon(1e-6));
  CHECK(m.size() == 4);
}

TEST_CASE("weights of examples count for every dimension of a label") {
  const head_data data{
      .features = {{"logits", rows_of(2, std::vector<float>{1, 2, 3, 4})}, {"w", numbers<float>({1, 3})}},
      .labels = {{"y", rows_of(2, std::vector<float>{1, 0, 0, 4})}}};
  const auto m = metrics_of(regression_head{.label_dimension = 2, .weight_feature = "w"}, data);
  CHECK(m.at("average_loss") == doctest::Approx((4 + 3 * 9) / 8.0));
  CHECK(m.at("loss") == doctest::Approx((4 + 3 * 9) / 4.0));
}

TEST_CASE(
    "a Poisson head has the negative log-likelihood as its loss, with and without Stirling's terms, and predicts "
    "means") {
  for (const bool full : {true, false}) {
    const auto m = metrics_of(poisson_head{.weight_feature = "w", .full_loss = full}, number_data());
    CHECK(m.at("average_loss") == doctest::Approx(weighted_mean([full](double x, double y) {
                                    return poisson_loss(x, y, full);
                                  })).epsilon(1e-5));
    CHECK(m.at("prediction/mean")
          == doctest::Approx(weighted_mean([](double x, double) { return std::exp(x); })).epsilon(1e-6));
    CHECK(m.at("label/mean") == doctest::Approx(weighted_mean([](double, double y) { return y; })));
  }
  const auto predicted = predictions_of(poisson_head{}, {.features = {{"logits", rows_of(1, logits)}}});
  REQUIRE(predicted.size() == 6);
  CHECK(predicted[2].values.at("logits") == numbers<float>({2}));
  CHECK(static_cast<double>(predicted[2].values.at("predictions").as<float>()[0])
        == doctest::Approx(std::exp(2)).epsilon(1e-6));
  CHECK(predictions_of(regression_head{}, {.features = {{"logits", rows_of(1, logits)}}})[0].values.size() == 1);
}

namespace {

/// The heads "kind", "late" and "number" with 2, 1 and 1 logits.
multi_head three_heads() {
  return {.heads = {{.name = "kind", .head = multi_class_head{.vocabulary = {"a", "b"}}, .weight = 2},
                    {.name = "late", .head = binary_head{.thresholds = {0.5}, .weight_feature = "w"}, .weight = 0.25},
                    {.name = "number", .head = regression_head{}, .label = "size"}}};
}
head_data three_labels() {
  return {.features = {{"logits", rows_of(4, std::vector<float>{2, 0, 1, 5, 0, 1, -2, 3, 1, 1, 3, 0})},
                       {"w", numbers<float>({1, 2, 4})}},
          .labels = {{"kind", numbers<int32_t>({0, 1, 1})},
                     {"late", numbers<int32_t>({1, 0, 0})},
                     {"size", numbers<float>({4, 3, 2})}}};
}
head_data alone(int64_t first, int64_t width, const std::string& label) {
  const auto all = three_labels();
  const auto from = all.features.at("logits").as<float>();
  std::vector<float> part;
  for (int64_t row = 0; row < 3; ++row)
    part.insert(part.end(), from.begin() + row * 4 + first, from.begin() + row * 4 + first + width);
  return {.features = {{"logits", rows_of(width, part)}, {"w", all.features.at("w")}},
          .labels = {{"y", all.labels.at(label)}}};
}

}  // namespace

TEST_CASE("a multi-head has the metrics of its heads under their names, and their losses weighted and added") {
  const auto m = metrics_of(three_heads(), three_labels());
  double loss = 0;
  const auto check = [&](const std::string& name, const head& h, const head_data& data, double weight) {
    for (const auto& [key, value] : metrics_of(h, data)) {
      CAPTURE(key);
      CHECK(m.at(key == "loss" ? "loss/" + name : name + "/" + key) == doctest::Approx(value).epsilon(1e-6));
      loss += key == "loss" ? weight * value : 0;
    }
  };
  check("kind", multi_class_head{.classes = 2}, alone(0, 2, "kind"), 2);
  check("late", binary_head{.thresholds = {0.5}, .weight_feature = "w"}, alone(2, 1, "late"), 0.25);
  check("number", regression_head{}, alone(3, 1, "size"), 1);
  CHECK(m.at("loss") == doctest::Approx(loss).epsilon(1e-6));
  CHECK(m.contains("late/auc"));
  CHECK(m.contains("late/recall/positive_threshold_0.5"));
}

TEST_CASE("a multi-head predicts what its heads do, under their names, words too") {
  const auto all = predictions_of(three_heads(), {.features = three_labels().features});
  REQUIRE(all.size() == 3);
  std::vector<std::string> names;
  for (const auto& [name, value] : all[1].values)
    names.push_back(name);
  CHECK(names
        == std::vector<std::string>{"kind/class_ids", "kind/logits", "kind/probabilities", "late/class_ids",
                                    "late/logistic", "late/logits", "late/probabilities", "number/predictions"});
  CHECK(all[1].texts.at("kind/classes") == std::vector<std::string>{"b"});
  CHECK(all[1].values.at("number/predictions") == numbers<float>({3}));
}

TEST_CASE("heads of a multi-head may take the same label, and one of them may be a multi-head") {
  const head inner = multi_head{.heads = {{.name = "size", .head = regression_head{}}}};
  const head outer = multi_head{
      .heads = {{.name = "inner", .head = inner}, {.name = "count", .head = poisson_head{}, .label = "size"}}};
  CHECK(outer.logits == 2);
  graph g;
  const symbol both = g.placeholder("logits", dtype::float32, {g.unknown("batch"), 2});
  const labels y{&g, {{"size", g.placeholder("size", dtype::float32, {g.unknown("batch")})}}};
  const auto spec = outer.spec(g, {.mode = mode::evaluate, .logits = both, .labels = y});
  CHECK_MESSAGE(g.status(), (g.status() ? "" : to_text(g.status().error())));
  for (const char* name :
       {"inner/size/average_loss", "inner/loss/size", "loss/inner", "count/average_loss", "loss/count"})
    CHECK_MESSAGE(spec.metrics.contains(name), name);
  multi_head{.heads = {{.name = "none", .head = regression_head{}}}}.spec(
      g, {.mode = mode::train, .logits = slice(both, 1, 0, 1), .labels = y});
  CHECK(g.status().error().message.starts_with("no component is called 'none'; there are: 'size'"));
}

}  // namespace troupe
