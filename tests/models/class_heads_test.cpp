// Heads of classes: their losses, metrics and predictions against formulas over all of the data in float64.
#include "tests/models/head_case.hpp"

#include <troupe/heads.hpp>

#include <cmath>
#include <functional>

namespace troupe {

using namespace test;

namespace {

const std::vector<float> scores{2, -1, 0.5f, -3, 1, -0.25f, 4};  ///< One logit for each example.
const std::vector<float> answers{1, 0, 0, 0, 1, 1, 1};
const std::vector<float> counts{1, 2, 0, 0.5f, 3, 1, 1};  ///< Weights of the examples.
const std::vector<std::string> binary_names{
    "accuracy",  "accuracy_baseline", "auc",   "auc_precision_recall", "average_loss", "label/mean", "loss",
    "precision", "prediction/mean",   "recall"};

double logistic(double x) { return 1 / (1 + std::exp(-x)); }
double binary_loss(double x, double y) { return std::log1p(std::exp(x)) - x * y; }

/// The weighted mean Σ w·f / Σ w over the examples.
double mean(const std::vector<float>& weights, const std::function<double(size_t)>& f) {
  double total = 0, weight = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    total += static_cast<double>(weights[i]) * f(i);
    weight += static_cast<double>(weights[i]);
  }
  return total / weight;
}
double part(const std::vector<float>& weights, const std::function<bool(size_t)>& of,
            const std::function<bool(size_t)>& within) {
  return mean(weights, [&](size_t i) { return of(i) && within(i) ? 1 : 0; })
         / mean(weights, [&](size_t i) { return within(i) ? 1 : 0; });
}

/// The weighted share of the pairs of a positive and a negative example whose scores are in the right order.
double area(const std::vector<float>& weights) {
  double right = 0, all = 0;
  for (size_t i = 0; i < scores.size(); ++i)
    for (size_t j = 0; j < scores.size(); ++j)
      if (answers[i] == 1 && answers[j] == 0) {
        const double w = static_cast<double>(weights[i]) * static_cast<double>(weights[j]);
        right += scores[i] > scores[j] ? w : 0;
        all += w;
      }
  return right / all;
}

head_data binary_data(bool weighted) {
  head_data data{.features = {{"logits", rows_of(1, scores)}}, .labels = {{"y", numbers(answers)}}};
  if (weighted)
    data.features["w"] = numbers(counts);
  return data;
}

}  // namespace

TEST_CASE("a binary head has the Estimator's metrics, with and without weights of examples") {
  for (const bool weighted : {false, true}) {
    CAPTURE(weighted);
    const auto w = weighted ? counts : std::vector<float>(7, 1.0f);
    const auto m = metrics_of(binary_head{.weight_feature = weighted ? "w" : ""}, binary_data(weighted));
    CHECK(names_of(m) == binary_names);
    const auto above = [](size_t i) { return scores[i] > 0; };
    const auto positive = [](size_t i) { return answers[i] == 1; };
    const auto likely = [](size_t i) { return logistic(static_cast<double>(scores[i])); };
    const auto each = [](size_t i) {
      return binary_loss(static_cast<double>(scores[i]), static_cast<double>(answers[i]));
    };
    const double share = mean(w, [&](size_t i) { return positive(i); });
    CHECK(m.at("accuracy") == doctest::Approx(mean(w, [&](size_t i) { return above(i) == positive(i); })));
    CHECK(m.at("accuracy_baseline") == doctest::Approx(std::max(share, 1 - share)));
    CHECK(m.at("label/mean") == doctest::Approx(share));
    CHECK(m.at("prediction/mean") == doctest::Approx(mean(w, likely)).epsilon(1e-6));
    CHECK(m.at("average_loss") == doctest::Approx(mean(w, each)).epsilon(1e-6));
    CHECK(m.at("precision") == doctest::Approx(part(w, positive, above)));
    CHECK(m.at("recall") == doctest::Approx(part(w, above, positive)));
    CHECK(m.at("auc") == doctest::Approx(area(w)).epsilon(0.01));
    CHECK(m.at("auc_precision_recall") > 0.8);
    // The batches have 3, 3 and 1 examples. Of each: Σ weight · loss / its rows; then the mean over the batches.
    const auto batch = [&](size_t first, size_t last) {
      double sum = 0;
      for (size_t i = first; i < last; ++i)
        sum += static_cast<double>(w[i]) * each(i);
      return sum / static_cast<double>(last - first);
    };
    CHECK(m.at("loss") == doctest::Approx((batch(0, 3) + batch(3, 6) + batch(6, 7)) / 3).epsilon(1e-6));
  }
}

TEST_CASE("each threshold of a binary head has an accuracy, a precision and a recall of its own") {
  const auto m = metrics_of(binary_head{.thresholds = {0.7, 0}}, binary_data(false));
  const std::vector<float> ones(7, 1.0f);
  const auto positive = [](size_t i) { return answers[i] == 1; };
  const auto above = [](size_t i) { return logistic(static_cast<double>(scores[i])) > 0.7; };
  CHECK(m.at("accuracy/positive_threshold_0.7")
        == doctest::Approx(mean(ones, [&](size_t i) { return above(i) == positive(i); })));
  CHECK(m.at("precision/positive_threshold_0.7") == doctest::Approx(part(ones, positive, above)));
  CHECK(m.at("recall/positive_threshold_0.7") == doctest::Approx(part(ones, above, positive)));
  CHECK(m.at("accuracy/positive_threshold_0") == doctest::Approx(4.0 / 7));
  CHECK(m.at("recall/positive_threshold_0") == doctest::Approx(1));
  CHECK(m.size() == binary_names.size() + 6);
}

TEST_CASE("a binary head predicts logits, logistic, two probabilities, a class of no axis and its word") {
  const head h = binary_head{.vocabulary = {"early", "late"}};
  const auto all = predictions_of(h, {.features = {{"logits", rows_of(1, scores)}}});
  REQUIRE(all.size() == 7);
  for (size_t i = 0; i < 7; ++i) {
    const auto& v = all[i].values;
    REQUIRE(v.size() == 4);
    CHECK(v.at("logits") == numbers<float>({scores[i]}));
    const double p = logistic(static_cast<double>(scores[i]));
    CHECK(v.at("logistic").dims() == shape{1});
    CHECK(static_cast<double>(v.at("logistic").as<float>()[0]) == doctest::Approx(p).epsilon(1e-6));
    REQUIRE(v.at("probabilities").dims() == shape{2});
    CHECK(static_cast<double>(v.at("probabilities").as<float>()[0]) == doctest::Approx(1 - p).epsilon(1e-6));
    CHECK(static_cast<double>(v.at("probabilities").as<float>()[1]) == doctest::Approx(p).epsilon(1e-6));
    CHECK(v.at("class_ids") == tensor::scalar<int64_t>(scores[i] > 0));
    CHECK(all[i].texts.at("classes") == std::vector<std::string>{scores[i] > 0 ? "late" : "early"});
  }
}

TEST_CASE("class weights are factors of the losses, and leave the other metrics alone") {
  const auto data = binary_data(true);
  const auto plain = metrics_of(binary_head{.weight_feature = "w"}, data);
  const auto m = metrics_of(binary_head{.weight_feature = "w", .class_weights = {0.5, 3}}, data);
  auto both = counts;
  for (size_t i = 0; i < both.size(); ++i)
    both[i] *= answers[i] == 1 ? 3.0f : 0.5f;
  CHECK(m.at("average_loss") == doctest::Approx(mean(both, [](size_t i) {
                                  return binary_loss(static_cast<double>(scores[i]), static_cast<double>(answers[i]));
                                })).epsilon(1e-6));
  CHECK(m.at("loss") != plain.at("loss"));
  for (const char* name : {"accuracy", "auc", "label/mean", "precision", "prediction/mean"})
    CHECK_MESSAGE(m.at(name) == plain.at(name), name);
}

namespace {

const std::vector<float> rows{2, 1, 0, 0, 3, 0, 1, 1, 4, 0, 0, 0};
const std::vector<int32_t> kinds{0, 1, 0, 2};
const std::vector<float> row_weights{1, 0, 2, 0.5f};

double softmax_loss(size_t row, int64_t label) {
  double sum = 0;
  for (size_t k = 0; k < 3; ++k)
    sum += std::exp(static_cast<double>(rows[row * 3 + k]));
  return std::log(sum) - static_cast<double>(rows[row * 3 + static_cast<size_t>(label)]);
}

head_data class_data() {
  return {.features = {{"logits", rows_of(3, rows)}, {"w", rows_of(1, row_weights)}},
          .labels = {{"y", numbers(kinds)}},
          .batch = 4};
}

}  // namespace

TEST_CASE("a multi-class head weighs rows by a feature of either shape and by their classes") {
  const std::vector<double> of_class{1, 4, 0.25};
  double total = 0, weight = 0, right = 0, examples = 0;
  for (size_t i = 0; i < 4; ++i) {
    const double w = static_cast<double>(row_weights[i]), k = w * of_class[static_cast<size_t>(kinds[i])];
    total += k * softmax_loss(i, kinds[i]);
    weight += k;
    right += i < 2 ? w : 0;
    examples += w;
  }
  const multi_class_head h{.classes = 3, .weight_feature = "w", .class_weights = of_class};
  for (const bool column : {true, false}) {
    auto data = class_data();
    if (!column)
      data.features["w"] = numbers(row_weights);
    const auto m = metrics_of(h, data);
    CHECK(names_of(m) == std::vector<std::string>{"accuracy", "average_loss", "loss"});
    CHECK(m.at("accuracy") == doctest::Approx(right / examples));
    CHECK(m.at("average_loss") == doctest::Approx(total / weight).epsilon(1e-6));
    CHECK(m.at("loss") == doctest::Approx(total / 4).epsilon(1e-6));
  }
}

TEST_CASE(
    "a confusion matrix has a row for each label and a column for each prediction, with the weights of the examples "
    "alone") {
  const auto matrix = [](const head& h, const head_data& data) {
    const auto result = evaluated(h, data);
    REQUIRE_MESSAGE(result, (result ? "" : to_text(result.error())));
    return result->arrays;
  };
  CHECK(matrix(multi_class_head{.classes = 3}, class_data()).empty());
  CHECK(
      matrix(multi_class_head{.classes = 3, .confusion_matrix = true}, class_data())
      == std::map<std::string, tensor>{{"confusion_matrix", tensor::of<double>({3, 3}, {1, 0, 1, 0, 1, 0, 1, 0, 0})}});
  CHECK(matrix(
            multi_class_head{
                .classes = 3, .weight_feature = "w", .class_weights = {1, 4, 0.25}, .confusion_matrix = true},
            class_data())
            .at("confusion_matrix")
        == tensor::of<double>({3, 3}, {1, 0, 2, 0, 0, 0, 0.5, 0, 0}));
  CHECK(matrix(binary_head{.confusion_matrix = true}, binary_data(false)).at("confusion_matrix")
        == tensor::of<double>({2, 2}, {2, 1, 1, 3}));
  CHECK(matrix(binary_head{.weight_feature = "w", .class_weights = {7, 3}, .confusion_matrix = true}, binary_data(true))
            .at("confusion_matrix")
        == tensor::of<double>({2, 2}, {2.5, 0, 1, 5}));
  const head_data unsure{.features = {{"logits", rows_of(1, std::vector<float>{1, 1, -1})}},
                         .labels = {{"y", numbers<float>({0.25f, 0, 1})}}};
  CHECK(matrix(binary_head{.confusion_matrix = true}, unsure).at("confusion_matrix")
        == tensor::of<double>({2, 2}, {0, 1, 1, 1}));
  const multi_head several{.heads = {{.name = "y", .head = multi_class_head{.classes = 3, .confusion_matrix = true}}}};
  CHECK(matrix(several, class_data()).contains("y/confusion_matrix"));
}

TEST_CASE("a confusion matrix is no metric of training: one step has too few rows for it") {
  for (const head& h : std::vector<head>{multi_class_head{.classes = 3, .confusion_matrix = true},
                                         binary_head{.confusion_matrix = true}}) {
    graph g;
    const symbol logits = g.placeholder("logits", dtype::float32, {g.unknown("batch"), h.logits});
    const symbol y = g.placeholder("y", dtype::int32, {g.unknown("batch")});
    CHECK_FALSE(h.spec(g, {.mode = mode::train, .logits = logits, .labels = y}).metrics.contains("confusion_matrix"));
    CHECK(h.spec(g, {.mode = mode::evaluate, .logits = logits, .labels = y}).metrics.contains("confusion_matrix"));
  }
}

TEST_CASE("the four reductions make of the weighted losses of a batch what losses.hpp says") {
  double total = 0;
  for (size_t i = 0; i < 4; ++i)
    total += static_cast<double>(row_weights[i]) * softmax_loss(i, kinds[i]);
  const auto loss = [](losses::reduction reduce) {
    return metrics_of(multi_class_head{.classes = 3, .weight_feature = "w", .loss_reduction = reduce}, class_data())
        .at("loss");
  };
  CHECK(loss(losses::reduction::sum) == doctest::Approx(total).epsilon(1e-6));
  CHECK(loss(losses::reduction::mean) == doctest::Approx(total / 3.5).epsilon(1e-6));
  CHECK(loss(losses::reduction::mean_nonzero) == doctest::Approx(total / 3).epsilon(1e-6));
  CHECK(loss(losses::reduction::sum_over_batch_size) == doctest::Approx(total / 4).epsilon(1e-6));
}

TEST_CASE("weights that are all 0 make a loss of 0 and metrics of 0, and no error") {
  auto data = class_data();
  data.features["w"] = numbers<float>({0, 0, 0, 0});
  for (const auto reduce : {losses::reduction::sum_over_batch_size, losses::reduction::mean,
                            losses::reduction::mean_nonzero, losses::reduction::sum})
    for (const auto& [name, value] :
         metrics_of(multi_class_head{.classes = 3, .weight_feature = "w", .loss_reduction = reduce}, data))
      CHECK_MESSAGE(value == 0, name);
}

TEST_CASE("a multi-class head predicts logits, probabilities, a class of no axis and, with a vocabulary, its word") {
  const auto all = predictions_of(multi_class_head{.vocabulary = {"a", "b", "c"}},
                                  {.features = {{"logits", rows_of(3, rows)}}});
  REQUIRE(all.size() == 4);
  for (size_t i = 0; i < 4; ++i) {
    REQUIRE(all[i].values.size() == 3);
    const int64_t best = i == 0 ? 0 : i == 1 ? 1 : i == 2 ? 2 : 0;
    CHECK(all[i].values.at("class_ids") == tensor::scalar<int64_t>(best));
    CHECK(all[i].values.at("logits").dims() == shape{3});
    CHECK(static_cast<double>(all[i].values.at("probabilities").as<float>()[static_cast<size_t>(best)])
          == doctest::Approx(std::exp(-softmax_loss(i, best))).epsilon(1e-6));
    CHECK(all[i].texts.at("classes") == std::vector<std::string>{std::string(1, static_cast<char>('a' + best))});
  }
}

TEST_CASE(
    "a multi-label head has the mean over classes as the loss of a row, and metrics over all classes and of single "
    "ones") {
  const std::vector<float> logits{2, -1, 0.5f, -3, 1, -0.25f, 4, 0.125f}, truth{1, 0, 1, 0, 1, 1, 0, 1}, w{1, 3, 0, 2};
  const head_data data{.features = {{"logits", rows_of(2, logits)}, {"w", numbers(w)}},
                       .labels = {{"y", rows_of(2, truth)}},
                       .batch = 4};
  const multi_label_head h{.vocabulary = {"red", "round"},
                           .thresholds = {0.5},
                           .class_metrics = {1},
                           .weight_feature = "w",
                           .class_weights = {2, 0.5}};
  const auto m = metrics_of(h, data);
  double total = 0, weight = 0, likely = 0, right = 0;
  for (size_t i = 0; i < 4; ++i) {
    const double of_row = (2 * binary_loss(static_cast<double>(logits[2 * i]), static_cast<double>(truth[2 * i]))
                           + 0.5
                                 * binary_loss(static_cast<double>(logits[2 * i + 1]),
                                               static_cast<double>(truth[2 * i + 1])))
                          / 2;
    total += static_cast<double>(w[i]) * of_row;
    weight += static_cast<double>(w[i]);
    likely += static_cast<double>(w[i]) * logistic(static_cast<double>(logits[2 * i + 1]));
    for (size_t k = 0; k < 2; ++k)
      right += (logits[2 * i + k] > 0) == (truth[2 * i + k] == 1) ? static_cast<double>(w[i]) / 2 : 0;
  }
  CHECK(m.at("average_loss") == doctest::Approx(total / weight).epsilon(1e-6));
  CHECK(m.at("loss") == doctest::Approx(total / 4).epsilon(1e-6));
  CHECK(m.at("probability_mean/round") == doctest::Approx(likely / weight).epsilon(1e-6));
  CHECK(m.at("accuracy/positive_threshold_0.5") == doctest::Approx(right / weight));
  CHECK(names_of(m)
        == std::vector<std::string>{"accuracy/positive_threshold_0.5", "auc", "auc/round", "auc_precision_recall",
                                    "auc_precision_recall/round", "average_loss", "loss",
                                    "precision/positive_threshold_0.5", "probability_mean/round",
                                    "recall/positive_threshold_0.5"});
  const auto predicted = predictions_of(multi_label_head{.classes = 2}, {.features = {{"logits", rows_of(2, logits)}}});
  REQUIRE(predicted.size() == 4);
  CHECK(predicted[0].values.size() == 2);
  CHECK(static_cast<double>(predicted[0].values.at("probabilities").as<float>()[1])
        == doctest::Approx(logistic(-1)).epsilon(1e-6));
}

}  // namespace troupe
