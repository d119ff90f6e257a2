// What heads refuse: invalid options, and labels and weights outside of their ranges. The error names the place and the
// value.
#include "tests/models/head_case.hpp"
#include "tests/support/has.hpp"

#include <troupe/canned_models.hpp>
#include <troupe/options/head_fields.hpp>

#include <cmath>
#include <limits>

namespace troupe {

using namespace test;

namespace {

std::string wrong(const head& h) {
  CHECK(h.wrong);
  return h.wrong ? h.wrong->message : "";
}

constexpr float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();

head_data of(int64_t width, std::vector<float> y, std::vector<float> w = {}) {
  const auto n = y.size();
  head_data data{.features = {{"logits", rows_of(width, std::vector<float>(n * static_cast<size_t>(width), 0.5f))}},
                 .labels = {{"y", numbers(y)}},
                 .batch = static_cast<int64_t>(n)};
  if (!w.empty())
    data.features["w"] = numbers(w);
  return data;
}

}  // namespace

TEST_CASE("options of heads that cannot be are told with the head, the field and the value") {
  CHECK(wrong(binary_head{.thresholds = {0.5, 1.5}}) == "binary_head: thresholds[1] must be in [0, 1], not 1.5");
  CHECK(wrong(binary_head{.thresholds = {-0.1}}) == "binary_head: thresholds[0] must be in [0, 1], not -0.1");
  CHECK(wrong(binary_head{.thresholds = {std::nan("")}}) == "binary_head: thresholds[0] must be in [0, 1], not nan");
  CHECK(wrong(binary_head{.thresholds = {0.25, 0.5, 0.25}})
        == "binary_head: thresholds must have each number once, not 0.25 twice");
  CHECK(wrong(binary_head{.vocabulary = {"a", "b", "c"}})
        == "binary_head: 2 classes cannot be called by the 3 words of the vocabulary");
  CHECK(wrong(binary_head{.vocabulary = {"a", "a"}}) == "binary_head: the vocabulary has 'a' twice");
  CHECK(wrong(binary_head{.class_weights = {1}})
        == "binary_head: class_weights must be one for each of the 2 classes, not 1");
  CHECK(wrong(binary_head{.class_weights = {1, -2}}) == "binary_head: class_weights[1] must be at least 0, not -2");
  CHECK(wrong(binary_head{.class_weights = {0, 0}})
        == "binary_head: class_weights must not all be 0: nothing would be learnt");
  CHECK(has(wrong(binary_head{.class_weights = {1, INFINITY}}), "binary_head: class_weights[1] must be"));
  CHECK(wrong(binary_head{.label_smoothing = 2}) == "binary_head: label_smoothing must be in [0, 1], not 2");
  CHECK(wrong(binary_head{.loss_reduction = losses::reduction::none})
        == "binary_head: loss_reduction must make one number of the losses of a batch, and none does not");
  CHECK(wrong(multi_class_head{}) == "multi_class_head: classes must be at least 2, not 0");
  CHECK(wrong(multi_class_head{.classes = 3, .vocabulary = {"a", "b"}})
        == "multi_class_head: 3 classes cannot be called by the 2 words of the vocabulary");
  CHECK(wrong(multi_class_head{.vocabulary = {"a"}})
        == "multi_class_head: the vocabulary must have at least 2 words, not 1");
  CHECK(wrong(multi_class_head{.classes = 3, .class_weights = {1, 2}})
        == "multi_class_head: class_weights must be one for each of the 3 classes, not 2");
  CHECK(wrong(multi_class_head{.classes = 2049, .confusion_matrix = true})
        == "multi_class_head: confusion_matrix is for at most 2048 classes, not 2049");
  CHECK_FALSE(static_cast<head>(multi_class_head{.classes = 2048, .confusion_matrix = true}).wrong);
  CHECK(wrong(multi_label_head{.classes = 1}) == "multi_label_head: classes must be at least 2, not 1");
  CHECK(wrong(multi_label_head{.classes = 3, .class_metrics = {0, 3}})
        == "multi_label_head: class_metrics must be below the number of classes, 3, not 3");
  CHECK(wrong(multi_label_head{.classes = 3, .class_metrics = {-1}})
        == "multi_label_head: class_metrics[0] must be at least 0, not -1");
  CHECK(wrong(multi_label_head{.classes = 3, .class_metrics = {2, 2}})
        == "multi_label_head: class_metrics must have each number once, not 2 twice");
  CHECK(wrong(regression_head{.label_dimension = 0}) == "regression_head: label_dimension must be at least 1, not 0");
  CHECK(wrong(poisson_head{.label_dimension = -1}) == "poisson_head: label_dimension must be at least 1, not -1");
}

TEST_CASE("a multi-head without heads, with names that cannot be or with a wrong head is told with the place") {
  const auto with = [](std::vector<named_head> heads) { return wrong(multi_head{.heads = std::move(heads)}); };
  CHECK(with({}) == "multi_head: heads must be at least one, not none");
  CHECK(with({{.name = "", .head = regression_head{}}})
        == "multi_head: heads[0].name must be a word without a slash, not ''");
  CHECK(with({{.name = "a/b", .head = regression_head{}}})
        == "multi_head: heads[0].name must be a word without a slash, not 'a/b'");
  CHECK(with({{.name = "loss", .head = regression_head{}}})
        == "multi_head: heads[0].name must not be 'loss', with which the names of the heads' losses begin");
  CHECK(with({{.name = "a", .head = regression_head{}}, {.name = "a", .head = regression_head{}}})
        == "multi_head: heads[1].name must be that of no other head, not 'a' again");
  CHECK(with({{.name = "a", .head = regression_head{}, .weight = -1}})
        == "multi_head: heads[0].weight must be at least 0, not -1");
  CHECK(with({{.name = "a", .head = regression_head{}, .weight = 0}})
        == "multi_head: the weights of the heads must not all be 0: nothing would be learnt");
  CHECK(with(std::vector<named_head>(5001)) == "multi_head: heads can be 5000, not 5001");
  CHECK(wrong(binary_head{.thresholds = std::vector<double>(5001, 0.5)})
        == "binary_head: thresholds can be 5000, not 5001");
  CHECK(wrong(multi_label_head{.classes = 9000, .class_metrics = std::vector<int64_t>(5001)})
        == "multi_label_head: class_metrics can be 5000, not 5001");
  CHECK(with({{.name = "a"}}) == "multi_head: heads[0].head is missing, such as troupe::binary_head{}");
  CHECK(with({{.name = "a", .head = binary_head{.thresholds = {2}}}})
        == "multi_head: heads[0]: binary_head: thresholds[0] must be in [0, 1], not 2");
  CHECK_FALSE(static_cast<head>(multi_head{.heads = {{.name = "a", .head = regression_head{}, .weight = 0},
                                                     {.name = "b", .head = binary_head{}}}})
                  .wrong);
}

TEST_CASE("a label outside of the classes is an error of the step with its row and value") {
  CHECK(has(refusal(multi_class_head{.classes = 3}, {.features = {{"logits", rows_of(3, std::vector<float>(12, 0.5f))}},
                                                     .labels = {{"y", numbers<int32_t>({0, 2, 3, 1})}},
                                                     .batch = 4}),
            "label 3 of row 2 is outside [0, 3)"));
  CHECK(has(refusal(multi_class_head{.classes = 3, .class_weights = {1, 2, 3}},
                    {.features = {{"logits", rows_of(3, std::vector<float>(12, 0.5f))}},
                     .labels = {{"y", numbers<int32_t>({0, 2, 1, -1})}},
                     .batch = 4}),
            "label -1 of row 3 is outside [0, 3)"));
  CHECK(has(refusal(binary_head{}, of(1, {0, 1, 1, 2})), "labels: 2 at [3, 0] is not in [0, 1]"));
  CHECK(has(refusal(binary_head{}, of(1, {0, nan, 1})), "labels: nan at [1, 0] is not in [0, 1]"));
  CHECK(has(refusal(multi_label_head{.classes = 2}, {.features = {{"logits", rows_of(2, std::vector<float>(6, 0.5f))}},
                                                     .labels = {{"y", rows_of<int64_t>(2, {0, 1, 1, 1, 0, -1})}}}),
            "labels: -1 at [2, 1] is not in [0, 1]"));
  CHECK(has(refusal(poisson_head{}, of(1, {0, 1, -2})), "labels: -2 at [2, 0] is not in [0, "));
  CHECK(has(refusal(regression_head{}, of(1, {0, inf, -2})), "labels: inf at [1, 0] is not finite"));
}

TEST_CASE(
    "a weight of an example that is negative or not finite is an error of the step with the feature, the row and the "
    "value") {
  const std::vector<head> heads{regression_head{.weight_feature = "w"}, binary_head{.weight_feature = "w"},
                                poisson_head{.weight_feature = "w"}};
  for (const head& h : heads) {
    CHECK(has(refusal(h, of(1, {0, 1, 1}, {1, 1, -0.5f})),
              "weights of examples, feature 'w': -0.5 at [2, 0] is not in [0, "));
    CHECK(has(refusal(h, of(1, {0, 1, 1}, {1, nan, 1})),
              "weights of examples, feature 'w': nan at [1, 0] is not in [0, "));
    CHECK(has(refusal(h, of(1, {0, 1, 1}, {inf, 1, 1})),
              "weights of examples, feature 'w': inf at [0, 0] is not in [0, "));
  }
}

TEST_CASE(
    "labels, logits and weights of other shapes, and a weight feature that is not there, are errors of the graph") {
  const auto message = [](const head& h, symbol_shape logit_dims, symbol_shape label_dims, symbol_shape weight_dims,
                          const std::string& weight = "w") {
    graph g;
    const extent batch = g.unknown("batch");
    const auto in = [&](const char* name, symbol_shape dims) {
      dims.insert(dims.begin(), batch);
      return g.placeholder(name, dtype::float32, dims);
    };
    const features x{&g, {{weight, in("w", std::move(weight_dims))}}};
    h.spec(g, {.mode = mode::train,
               .logits = in("logits", std::move(logit_dims)),
               .labels = in("y", std::move(label_dims)),
               .features = x});
    REQUIRE_FALSE(g.status());
    CHECK(g.status().error().category == errc::invalid_argument);
    CHECK(has(g.status().error().message, "wrong_heads_test.cpp:"));
    return g.status().error().message;
  };
  CHECK(has(message(binary_head{}, {2}, {}, {}),
            "the logits of a binary_head must be floating [batch, 1], not float32 [batch, 2]"));
  CHECK(has(message(binary_head{}, {1}, {2}, {}),
            "the labels of a binary_head must be [batch, 1] or [batch], not [batch, 2]"));
  CHECK(has(message(multi_label_head{.classes = 3}, {3}, {}, {}),
            "the labels of a multi_label_head must be [batch, 3], not [batch]"));
  CHECK(has(message(regression_head{.weight_feature = "w"}, {1}, {}, {2}),
            "regression_head: weight_feature 'w' must be [batch] or [batch, 1], not [batch, 2]"));
  CHECK(has(message(regression_head{.weight_feature = "w"}, {1}, {}, {}, "v"),
            "regression_head: weight_feature 'w' is none of the features, which are: 'v'"));
  CHECK(has(message(head{}, {1}, {}, {}), "a model needs a head, such as troupe::multi_class_head{.classes = 10}"));
  CHECK(
      has(message(binary_head{.thresholds = {2}}, {1}, {}, {}), "binary_head: thresholds[0] must be in [0, 1], not 2"));
  graph g;
  const symbol one = g.placeholder("x", dtype::float32, {g.unknown("batch"), 1});
  binary_head{.weight_feature = "w"}.spec(g, {.logits = one, .labels = one});
  CHECK(has(g.status().error().message, "binary_head: weight_feature 'w' is given, but no features are"));
}

TEST_CASE("a model without a head or with a wrong one says so with its own name and the line of the call") {
  const auto message = [](const model& m) {
    graph g;
    m.build(g, features{&g, {{"x", g.placeholder("x", dtype::float32, {g.unknown("batch"), 2})}}}, labels{&g, {}},
            mode::predict);
    REQUIRE_FALSE(g.status());
    return g.status().error().message;
  };
  const auto headless = linear_model({});
  const auto line = "wrong_heads_test.cpp:" + std::to_string(__LINE__ - 1) + ")";
  CHECK(has(message(headless), "linear_model: head is missing, such as troupe::multi_class_head{.classes = 10}"));
  CHECK(has(message(headless), line));
  CHECK(has(message(dnn_model({.hidden_units = {2}, .head = binary_head{.thresholds = {2}}})),
            "dnn_model: binary_head: thresholds[0] must be in [0, 1], not 2"));
  CHECK(has(message(dnn_linear_combined_model({.head = binary_head{}, .linear_features = {"y"}})),
            "dnn_linear_combined_model: linear_features has 'y', which is none of the features: 'x'"));
}

}  // namespace troupe
