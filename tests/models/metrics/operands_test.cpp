// The operands of metrics: shapes and weights that broadcast, and all that is refused while the graph is built.
#include "tests/models/metrics/measure.hpp"
#include "tests/support/has.hpp"

#include <troupe/metrics.hpp>

namespace troupe::test {

namespace {

/// A graph with the placeholders `label` and `prediction` [batch], `rows` [batch, 3] and `scores` [batch, 5], all
/// float32, and `whole` [batch], int64.
struct operands {
  graph g;
  extent batch = g.unknown("batch");
  symbol label = g.placeholder("label", dtype::float32, {batch}),
         prediction = g.placeholder("prediction", dtype::float32, {batch});
  symbol rows = g.placeholder("rows", dtype::float32, {batch, 3}),
         scores = g.placeholder("scores", dtype::float32, {batch, 5});
  symbol whole = g.placeholder("whole", dtype::int64, {batch});
};
std::string error_of(const std::function<metric(operands&)>& build) {
  operands o;
  const auto made = build(o);
  CHECK(made.sums.empty());
  REQUIRE_FALSE(o.g.status());
  CHECK(o.g.status().error().category == errc::invalid_argument);
  return o.g.status().error().message;
}

/// The weighted mean of {label, prediction} [batch, 2]; `weights` makes the weights from the row's weight.
double mean_of_pairs(const columns& data, const std::function<symbol(symbol)>& weights) {
  measured m{[&](symbol l, symbol p, symbol w) {
               return metrics::mean(stack({l, p}, 1), {.weights = weights(w)});
             },
             true};
  return values_of(m.totals(data, 0, data.rows(), 7)).front();
}

}  // namespace

TEST_CASE(
    "[MET-30] weights are those of rows, of elements, of columns or one for all; more columns than elements are "
    "refused") {
  const columns data = number_rows(50);
  const auto mean = [&](double of_labels, double of_predictions, bool by_row) {
    columns c = data;
    if (!by_row)
      c.weight.assign(c.rows(), 1.0f);
    const double sum = sum_over(c, [&](size_t i) {
      return of_labels * static_cast<double>(c.label[i]) + of_predictions * static_cast<double>(c.prediction[i]);
    });
    return doctest::Approx(sum / (weight_of(c) * (of_labels + of_predictions))).epsilon(1e-12);
  };
  CHECK(mean_of_pairs(data, [](symbol w) { return w; }) == mean(1, 1, true));
  CHECK(mean_of_pairs(data, [](symbol w) { return expand_dims(w, -1); }) == mean(1, 1, true));
  CHECK(mean_of_pairs(data, [](symbol w) { return stack({w, 3 * w}, 1); }) == mean(1, 3, true));
  CHECK(mean_of_pairs(data,
                      [](symbol w) {
                        return w.owner()->constant(tensor::of<int32_t>({1, 2}, {1, 2}));
                      })
        == mean(1, 2, false));
  CHECK(mean_of_pairs(data, [](symbol w) { return w.owner()->constant(tensor::scalar(2.0)); }) == mean(1, 1, false));
  CHECK(mean_of_pairs(data, [](symbol w) { return greater_equal(w, number_like(w, 0)); }) == mean(1, 1, false));

  CHECK(has(
      error_of([](operands& o) { return metrics::mean(o.label, {.weights = o.rows}); }),
      "metrics::mean: the weights must broadcast to [batch] or be those of its first axes, not float32 [batch, 3]"));
  CHECK(has(
      error_of([](operands& o) { return metrics::auc(o.rows, o.rows, {.weights = o.scores}); }),
      "metrics::auc: the weights must broadcast to [batch, 3] or be those of its first axes, not float32 [batch, 5]"));
}

TEST_CASE(
    "[MET-30] a weight that is negative, infinite or not a number is an error of the step that names its place; "
    "weights of 0 give 0") {
  // check_metric covers the other values for every metric; only infinity is left.
  measured m{[](symbol l, symbol p, symbol w) { return metrics::accuracy(l, p, {.weights = w}); }, true};
  columns data = class_rows(9);
  data.weight[4] = std::numeric_limits<float>::infinity();
  CHECK(has(m.error_of(data), "weights: inf at [4] is not in [0, inf): check_range"));
  data.weight.assign(9, 0.0f);
  CHECK(values_of(m.totals(data, 0, 9, 2)) == std::vector<double>{0});
}

TEST_CASE(
    "[MET-31] labels and predictions of other shapes are refused with both, but a last axis of extent 1 is dropped") {
  const auto shapes = error_of([](operands& o) { return metrics::accuracy(o.label, o.rows); });
  CHECK(has(
      shapes,
      "metrics::accuracy: labels and predictions must be of one shape, not float32 [batch] and float32 [batch, 3]"));
  CHECK(has(shapes, "operands_test.cpp:"));
  CHECK(has(error_of([](operands& o) { return metrics::mean_relative_error(o.label, o.prediction, o.rows); }),
            "metrics::mean_relative_error: labels and"));
  const direct_value share = [](const columns& c) -> std::vector<double> {
    return {mean_over(c, [&](size_t i) { return c.label[i] == c.prediction[i]; })};
  };
  check_metric(
      class_rows(),
      [](symbol l, symbol p, symbol w) { return metrics::accuracy(expand_dims(l, -1), p, {.weights = w}); }, share);
  check_metric(
      class_rows(),
      [](symbol l, symbol p, symbol w) {
        return metrics::accuracy(l, expand_dims(p, -1), {.weights = w.valid() ? expand_dims(w, -1) : w});
      },
      share);
}

TEST_CASE("[MET-31] options outside of their ranges are refused with the value and what would be right") {
  CHECK(has(error_of([](operands& o) { return metrics::top_k(o.whole, o.scores, 6); }),
            "metrics::top_k: needs integer labels [...], floating scores [..., classes] and k in [1, classes], not "
            "int64 [batch], float32 [batch, 5] and 6"));
  CHECK(has(error_of([](operands& o) { return metrics::top_k(o.whole, o.scores, 0); }), "and 0"));
  CHECK(has(error_of([](operands& o) { return metrics::top_k(o.label, o.scores, 1); }),
            "not float32 [batch], float32 [batch, 5] and 1"));
  CHECK(has(error_of([](operands& o) { return metrics::precision_at_k(o.whole, o.scores, 6); }),
            "metrics::precision_at_k: needs integer labels [...] or [..., labels], floating scores [..., classes], k "
            "in [1, classes] and a class of those, not "
            "int64 [batch, 1], float32 [batch, 5], 6 and all"));
  CHECK(has(error_of([](operands& o) { return metrics::precision_at_k(o.whole, o.scores, 1, {.class_id = 5}); }),
            "float32 [batch, 5], 1 and 5"));
  CHECK(has(error_of([](operands& o) { return metrics::precision_at_k(o.label, o.scores, 1); }),
            "not float32 [batch, 1], float32 [batch, 5], 1 and all"));
  CHECK(has(error_of([](operands& o) { return metrics::recall_at_precision(o.label, o.prediction, 1.5); }),
            "metrics::recall_at_precision: the value that it is asked for must be in [0, 1], not 1.5"));
  CHECK(has(error_of([](operands& o) { return metrics::confusion_matrix(o.whole, o.whole, 1); }),
            "metrics::confusion_matrix: needs integer labels and predictions, and from 2 to 2048 classes, not int64 "
            "[batch], int64 [batch] and 1"));
  CHECK(has(error_of([](operands& o) { return metrics::confusion_matrix(o.whole, o.whole, 2049); }), "and 2049"));
  CHECK(has(error_of([](operands& o) { return metrics::mean_iou(o.whole, o.label, 3); }),
            "metrics::mean_iou: needs integer labels and predictions, and from 2 to 1048576 classes, not int64 "
            "[batch], float32 [batch] and 3"));
  CHECK(has(error_of([](operands& o) {
              return metrics::precision_at_thresholds(o.label, o.prediction, {0.5, 1.5});
            }),
            "metrics::precision_at_thresholds: thresholds must be in [0, 1], not 1.5"));
  CHECK(has(error_of([](operands& o) { return metrics::recall_at_thresholds(o.label, o.prediction, {std::nan("")}); }),
            "must be in [0, 1], not nan"));
  CHECK(has(error_of([](operands& o) { return metrics::recall_at_thresholds(o.label, o.prediction, {}); }),
            "needs from 1 to 4194303 thresholds, not 0"));
  CHECK(has(error_of([](operands& o) { return metrics::auc(o.label, o.prediction, {.thresholds = 1}); }),
            "metrics::auc: needs from 2 to 100000 thresholds, not 1"));
  CHECK(has(error_of([](operands& o) { return metrics::auc(o.label, o.whole); }),
            "metrics::auc: needs floating predictions, not int64 [batch]"));
  CHECK(has(error_of([](operands& o) { return metrics::precision_at_recall(o.label, o.prediction, -0.5); }),
            "metrics::precision_at_recall: the value that it is asked for must be in [0, 1], not -0.5"));
  CHECK(has(error_of([](operands& o) { return metrics::sensitivity_at_specificity(o.label, o.prediction, 2); }),
            "must be in [0, 1], not 2"));
  CHECK(
      has(error_of(
              [](operands& o) { return metrics::binary_accuracy(o.label, o.prediction, {.threshold = std::nan("")}); }),
          "metrics::binary_accuracy: needs floating predictions and a finite threshold, not float32 [batch] and nan"));
  CHECK(has(error_of([](operands& o) { return metrics::mean_cosine_distance(o.rows, o.rows, 2); }),
            "metrics::mean_cosine_distance: its axis must be one of float32 [batch, 3], not 2"));
}

TEST_CASE("a metric of a symbol that the graph has an error for is empty, and the error stays the first") {
  operands o;
  const symbol wrong = add(o.label, o.rows);
  CHECK(metrics::auc(o.label, wrong).sums.empty());
  CHECK(metrics::mean(wrong).sums.empty());
  CHECK(metrics::top_k(o.whole, wrong, 2).sums.empty());
  // An invalid symbol counts as no weights.
  CHECK(metrics::accuracy(o.label, o.prediction, {.weights = wrong}).sums.size() == 2);
  CHECK(has(o.g.status().error().message, "add"));
}

}  // namespace troupe::test
