#include "compute/program/program.hpp"
#include "models/model_spec.hpp"
#include "tests/support/has.hpp"

#include <troupe/heads.hpp>

#include <doctest/doctest.h>

#include <cmath>

namespace troupe {

using test::has;

namespace {

/// Makes one head by `head{options}` and one by `head h = options`, and compares their `logits`. Returns the name.
template <class Options>
std::string name_in_braces(const Options& options) {
  const head copied = options;
  CHECK(head{options}.logits == copied.logits);
  return head{options}.name;
}

/// A head whose logits are a placeholder.
struct fed_head {
  graph g;
  model_spec spec;

  fed_head(mode m, symbol_shape label_dims = {}, int64_t columns = 3, int64_t classes = 3) {
    const extent batch = g.unknown("batch");
    const symbol logits = g.placeholder("logits", dtype::float32, {batch, columns});
    symbol_shape dims{batch};
    dims.insert(dims.end(), label_dims.begin(), label_dims.end());
    const symbol label = m == mode::predict ? symbol{} : g.placeholder("label", dtype::int32, dims);
    spec = multi_class_head{.classes = classes}.spec(g, {.mode = m, .logits = logits, .labels = label});
  }
};

double log_sum_exp(std::initializer_list<double> x) {
  double sum = 0;
  for (double v : x)
    sum += std::exp(v);
  return std::log(sum);
}

}  // namespace

TEST_CASE("a head trains on the mean cross-entropy, and measures what it does when it evaluates") {
  fed_head h{mode::train};
  REQUIRE(h.g.status());
  CHECK(check(h.spec, h.g, mode::train));
  CHECK(h.spec.optimizer);
  CHECK((h.spec.metrics.size() == 2 && h.spec.metrics.contains("accuracy") && h.spec.metrics.contains("average_loss")));
  CHECK((h.spec.predictions.size() == 1 && h.spec.predictions.contains("logits")));
}

TEST_CASE("accuracy and average_loss are sums over rows, the loss is the mean of the batch") {
  for (const symbol_shape& label_dims : {symbol_shape{}, symbol_shape{extent{1}}}) {
    fed_head h{mode::evaluate, label_dims};
    REQUIRE(check(h.spec, h.g, mode::evaluate));
    const auto layout = parameter_layout::of(h.g, std::nullopt);
    REQUIRE(layout);
    auto p = program::make(h.g, h.spec, *layout, {.batch = 4});
    REQUIRE(p);
    const auto logits = tensor::of<float>({4, 3}, {2, 1, 0, 0, 3, 0, 1, 1, 4, 0, 0, 0});
    const auto label = tensor::of<int32_t>({4}, {0, 1, 0, 2});
    std::vector<const std::byte*> feeds;
    for (const auto& c : (*p)->inputs())
      feeds.push_back(c.name == "logits" ? logits.data() : label.data());
    REQUIRE((*p)->run({.feeds = feeds}) == step_status::ok);
    std::map<std::string, float> out;
    const auto outputs = (*p)->outputs();
    for (size_t i = 0; i < outputs.size(); ++i)
      out[to_string(outputs[i])] = (*p)->output(static_cast<int32_t>(i)).as<float>()[0];
    const double sum = (log_sum_exp({2, 1, 0}) - 2) + (log_sum_exp({0, 3, 0}) - 3) + (log_sum_exp({1, 1, 4}) - 1)
                       + log_sum_exp({0, 0, 0});
    CHECK(out.at("accuracy/0") == 2);
    CHECK(out.at("accuracy/1") == 4);
    CHECK(out.at("average_loss/0") == doctest::Approx(sum));
    CHECK(out.at("average_loss/1") == 4);
    CHECK((*p)->loss() == doctest::Approx(sum / 4));
  }
}

TEST_CASE(
    "a head that smooths labels has a loss that a certain answer does not bring to 0, and refuses a share above 1") {
  const auto loss_of = [](double smoothing) {
    graph g;
    const symbol logits = g.placeholder("logits", dtype::float32, {g.unknown("batch"), extent{3}});
    const auto spec = multi_class_head{.classes = 3, .label_smoothing = smoothing}.spec(
        g, {.mode = mode::evaluate,
            .logits = logits,
            .labels = g.placeholder("label", dtype::int32, {g.unknown("batch")})});
    if (!g.status())
      return to_text(g.status().error());
    auto p = program::make(g, spec, *parameter_layout::of(g, std::nullopt), {.batch = 2});
    REQUIRE(p);
    const auto x = tensor::of<float>({2, 3}, {2, 1, 0, 0, 3, 0});
    const auto y = tensor::of<int32_t>({2}, {0, 1});
    std::vector<const std::byte*> feeds;
    for (const auto& c : (*p)->inputs())
      feeds.push_back(c.name == "logits" ? x.data() : y.data());
    REQUIRE((*p)->run({.feeds = feeds}) == step_status::ok);
    return std::to_string((*p)->loss());
  };
  const double first = log_sum_exp({2, 1, 0}), second = log_sum_exp({0, 3, 0});
  CHECK(std::stod(loss_of(0)) == doctest::Approx((first - 2 + second - 3) / 2).epsilon(1e-5));
  CHECK(std::stod(loss_of(0.3))
        == doctest::Approx((first - 0.7 * 2 - 0.3 * 1 + second - 0.7 * 3 - 0.3 * 1) / 2).epsilon(1e-5));
  CHECK(has(loss_of(1.5), "label_smoothing must be in [0, 1], not 1.5"));
}

TEST_CASE("predictions are the likeliest class and the probabilities of all, and need no label") {
  fed_head h{mode::predict};
  REQUIRE(check(h.spec, h.g, mode::predict));
  CHECK(h.spec.predictions.at("class_ids").type() == dtype::int64);
  CHECK(h.spec.predictions.at("class_ids").rank() == 1);
  CHECK(h.spec.predictions.at("probabilities").dims()[1] == extent{3});
  CHECK(h.spec.predictions.at("logits").dims()[1] == extent{3});
  CHECK_FALSE(h.spec.loss.valid());
}

TEST_CASE("a head takes the labels of the model function as they are, and asks for the one only where it needs it") {
  graph g;
  const extent batch = g.unknown("batch");
  const symbol logits = g.placeholder("logits", dtype::float32, {batch, 3}),
               label = g.placeholder("label", dtype::int32, {batch});
  const labels one{&g, {{"label", label}}}, none{&g, {}}, two{&g, {{"a", label}, {"b", label}}};
  const auto of = [&](const labels& y, mode m) {
    return multi_class_head{.classes = 3}.spec(g, {.mode = m, .logits = logits, .labels = y});
  };
  CHECK(check(of(one, mode::train), g, mode::train));
  CHECK(check(of(none, mode::predict), g, mode::predict));
  CHECK(check(of(two, mode::predict), g, mode::predict));
  REQUIRE(g.status());
  regression_head{}.spec(g, {.logits = slice(logits, 1, 0, 1), .labels = two});
  const std::string line = "heads_test.cpp:" + std::to_string(__LINE__ - 1) + ")";
  CHECK(g.status().error().message.starts_with("exactly one component is needed; there are: 'a', 'b' ("));
  CHECK(g.status().error().message.ends_with(line));
}

TEST_CASE("an error of a head's spec points to the line of the call") {
  const model late{"late", [](graph& g, const features&, const labels&, mode) {
                     const symbol logits = g.placeholder("logits", dtype::float32, {g.unknown("batch"), 1});
                     auto spec = regression_head{}.spec(g, {.mode = mode::predict, .logits = logits});
                     spec.predictions.clear();
                     return spec;
                   }};
  const int line = __LINE__ - 4;
  graph g;
  (*checked(late))->build(g, features{&g, {}}, labels{&g, {}}, mode::predict);
  REQUIRE_FALSE(g.status());
  CHECK(g.status().error().message.starts_with("a model needs predictions to predict ("));
  CHECK(g.status().error().message.ends_with("heads_test.cpp:" + std::to_string(line) + ")"));
}

TEST_CASE(
    "logits of another width than the classes are an error of the graph with both numbers and the caller's line") {
  fed_head h{mode::train, {}, 4, 3};
  const auto e = h.g.status().error();
  CHECK(e.category == errc::invalid_argument);
  CHECK(has(e.message, "the logits of a multi_class_head must be floating [batch, 3], not float32 [batch, 4]"));
  CHECK(has(e.message, "heads_test.cpp"));
  fed_head one{mode::train, {}, 1, 1};
  CHECK(has(one.g.status().error().message, "multi_class_head: classes must be at least 2, not 1"));
}

TEST_CASE("a head is made of each of its structs in braces too, as of one that is assigned") {
  CHECK(name_in_braces(binary_head{.thresholds = {0.5}}) == "binary_head");
  CHECK(name_in_braces(multi_class_head{.classes = 3}) == "multi_class_head");
  CHECK(name_in_braces(multi_label_head{.classes = 4}) == "multi_label_head");
  CHECK(name_in_braces(regression_head{.label_dimension = 2}) == "regression_head");
  CHECK(name_in_braces(poisson_head{}) == "poisson_head");
  CHECK(name_in_braces(multi_head{.heads = {{.name = "a", .head = head{binary_head{}}}}}) == "multi_head");
  CHECK(head{binary_head{.thresholds = {2}}}.wrong);
  CHECK(head{}.name.empty());
}

}  // namespace troupe
