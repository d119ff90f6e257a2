#include "tests/models/metrics/measure.hpp"
#include "tests/support/has.hpp"

#include <troupe/metrics.hpp>

#include <set>

namespace troupe::test {

namespace {

constexpr size_t classes = 5;

/// The confusion matrix: the weight of the rows with label i and prediction j is at i · classes + j.
std::vector<double> table_of(const columns& c) {
  std::vector<double> table;
  for (size_t i = 0; i < classes; ++i)
    for (size_t j = 0; j < classes; ++j)
      table.push_back(sum_over(c, [&](size_t row) {
        return c.label[row] == static_cast<float>(i) && c.prediction[row] == static_cast<float>(j);
      }));
  return table;
}

/// The mean over the classes of share(correct weight, weight of the label, weight of the prediction), without those
/// where it is NaN.
template <class F>
double mean_of_classes(const columns& c, F share) {
  const auto table = table_of(c);
  double sum = 0, counted = 0;
  for (size_t k = 0; k < classes; ++k) {
    double labels = 0, predictions = 0;
    for (size_t j = 0; j < classes; ++j) {
      labels += table[k * classes + j];
      predictions += table[j * classes + k];
    }
    if (const double x = share(table[k * classes + k], labels, predictions); !std::isnan(x)) {
      sum += x;
      ++counted;
    }
  }
  return sum / counted;
}

/// Scores of 4 classes, made from both columns; some of them are ties, infinite or NaN.
symbol scores_of(symbol l, symbol p) {
  const symbol nan = div(number_like(p, 0), number_like(p, 0));
  const symbol third = select(equal(l, number_like(l, 2)), select(equal(p, number_like(p, 3)), nan, p),
                              number_like(p, 1));
  return stack({p, l, third, number_like(p, 1) - 0 * p}, 1);
}

}  // namespace

TEST_CASE("[MET-6] top_k is the share of labels with fewer than k scores above their own, so that ties are in") {
  for (const int64_t k : {1, 2, 4})
    check_metric(
        class_rows(),
        [=](symbol l, symbol p, symbol w) { return metrics::top_k(whole(l), scores_of(l, p), k, {.weights = w}); },
        [=](const columns& c) -> std::vector<double> {
          return {mean_over(c, [&](size_t i) {
            const double l = static_cast<double>(c.label[i]), p = static_cast<double>(c.prediction[i]);
            const double scores[] = {p, l, l == 2 ? p == 3 ? std::nan("") : p : 1, 1};
            const double own = scores[static_cast<size_t>(l)];
            return std::isfinite(own)
                   && std::count_if(std::begin(scores), std::end(scores), [own](double s) { return s > own; }) < k;
          })};
        });
}

TEST_CASE(
    "[MET-41] precision_at_k is the share of the k greatest scores' classes that their row names, each class once, and "
    "others than the classes never") {
  const auto scores_in = [](const columns& c, size_t i) {
    const double l = static_cast<double>(c.label[i]), p = static_cast<double>(c.prediction[i]);
    return std::vector<double>{p, l, l == 2 ? p == 3 ? std::nan("") : p : 1, 1};
  };
  /// The labels of a row among 4 classes: the label, the number below it (which may be -1) and the prediction, which
  /// may equal either.
  const auto labels_in = [](const columns& c, size_t i) {
    return std::set<int>{static_cast<int>(c.label[i]), static_cast<int>(c.label[i]) - 1,
                         static_cast<int>(c.prediction[i])};
  };
  const auto greatest = [&](const columns& c, size_t i, size_t k) {
    const auto scores = scores_in(c, i);
    std::vector<int> order;
    for (int j = 0; j < 4; ++j)
      if (!std::isnan(scores[static_cast<size_t>(j)]))
        order.push_back(j);
    std::stable_sort(order.begin(), order.end(),
                     [&](int a, int b) { return scores[static_cast<size_t>(a)] > scores[static_cast<size_t>(b)]; });
    order.resize(std::min(k, order.size()));
    return std::set<int>(order.begin(), order.end());
  };
  const auto labels_of = [](symbol l, symbol p) { return stack({whole(l), whole(l) - 1, whole(p)}, 1); };
  for (const size_t k : {1, 2, 4}) {
    const auto places = static_cast<int64_t>(k);
    check_metric(
        class_rows(),
        [&](symbol l, symbol p, symbol w) {
          return metrics::precision_at_k(labels_of(l, p), scores_of(l, p), places, {w});
        },
        [&](const columns& c) -> std::vector<double> {
          return {mean_over(c, [&](size_t i) {
            const auto wanted = labels_in(c, i), found = greatest(c, i, k);
            return static_cast<double>(
                       std::count_if(found.begin(), found.end(), [&](int j) { return wanted.contains(j); }))
                   / static_cast<double>(k);
          })};
        });
    check_metric(
        class_rows(),
        [&](symbol l, symbol p, symbol w) {
          return metrics::precision_at_k(labels_of(l, p), scores_of(l, p), places, {.weights = w, .class_id = 2});
        },
        [&](const columns& c) -> std::vector<double> {
          const auto there = [&](size_t i) { return greatest(c, i, k).contains(2); };
          const double found = sum_over(c, [&](size_t i) { return there(i); });
          return {found == 0 ? 0
                             : sum_over(c, [&](size_t i) { return there(i) && labels_in(c, i).contains(2); }) / found};
        });
  }
  check_metric(
      class_rows(),
      [](symbol l, symbol p, symbol w) { return metrics::precision_at_k(whole(l), scores_of(l, p), 2, {w}); },
      [&](const columns& c) -> std::vector<double> {
        return {mean_over(c, [&](size_t i) { return greatest(c, i, 2).contains(static_cast<int>(c.label[i])) / 2.0; })};
      });
}

TEST_CASE("[MET-7] mean_per_class_accuracy weighs each class alike, and skips one that is never a label") {
  check_metric(
      class_rows(),
      [](symbol l, symbol p, symbol w) {
        return metrics::mean_per_class_accuracy(whole(l), whole(p), 5, {.weights = w});
      },
      [](const columns& c) -> std::vector<double> {
        return {mean_of_classes(c, [](double right, double labels, double) { return right / labels; })};
      });
}

TEST_CASE("[MET-19] confusion_matrix has the weight of each label's rows by prediction") {
  check_metric(
      class_rows(),
      [](symbol l, symbol p, symbol w) {
        return metrics::confusion_matrix(whole(l), cast(p, dtype::int32), 5, {.weights = w});
      },
      table_of);
}

TEST_CASE(
    "[MET-20] mean_iou is the mean of intersection over union, without a class that is neither a label nor a "
    "prediction") {
  check_metric(
      class_rows(),
      [](symbol l, symbol p, symbol w) { return metrics::mean_iou(whole(l), whole(p), 5, {.weights = w}); },
      [](const columns& c) -> std::vector<double> {
        return {mean_of_classes(
            c, [](double right, double labels, double predictions) { return right / (labels + predictions - right); })};
      });
}

TEST_CASE(
    "[MET-32] a label or a prediction outside of the classes is an error of the step that names its place and value") {
  columns data = class_rows(9);
  const metric_builder all[] = {
      [](symbol l, symbol p, symbol w) { return metrics::confusion_matrix(whole(l), whole(p), 4, {.weights = w}); },
      [](symbol l, symbol p, symbol w) { return metrics::mean_iou(whole(l), whole(p), 4, {.weights = w}); },
      [](symbol l, symbol p, symbol w) {
        return metrics::mean_per_class_accuracy(whole(l), whole(p), 4, {.weights = w});
      }};
  for (const auto& build : all) {
    measured m{build, false};
    columns wrong = data;
    wrong.label[7] = 4;
    CHECK(has(m.error_of(wrong), "labels: 4 at [7] is not in [0, 3]: check_range"));
    wrong = data;
    wrong.prediction[0] = -1;
    CHECK(has(m.error_of(wrong), "predictions: -1 at [0] is not in [0, 3]: check_range"));
  }
  measured of_scores{[](symbol l, symbol p, symbol w) {
                       return metrics::top_k(whole(l), stack({p, l}, 1), 1, {.weights = w});
                     },
                     false};
  data.label.assign(9, 0.0f);
  data.label[8] = 2;
  CHECK(has(of_scores.error_of(data), "labels: 2 at [8] is not in [0, 1]: check_range"));
}

}  // namespace troupe::test
