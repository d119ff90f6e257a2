#include "tests/models/metrics/measure.hpp"

#include <troupe/metrics.hpp>

namespace troupe::test {

namespace {

double error_at(const columns& c, size_t i) {
  return static_cast<double>(c.prediction[i]) - static_cast<double>(c.label[i]);
}

}  // namespace

TEST_CASE("[MET-1] mean is the weighted mean of values over all rows") {
  check_metric(
      number_rows(), [](symbol, symbol p, symbol w) { return metrics::mean(p, {.weights = w}); },
      [](const columns& c) -> std::vector<double> {
        return {mean_over(c, [&](size_t i) { return c.prediction[i]; })};
      });
}

TEST_CASE("[MET-2] sum is the weighted sum of values over all rows") {
  check_metric(
      number_rows(), [](symbol, symbol p, symbol w) { return metrics::sum(p, {.weights = w}); },
      [](const columns& c) -> std::vector<double> { return {sum_over(c, [&](size_t i) { return c.prediction[i]; })}; });
}

TEST_CASE("[MET-3] accuracy is the share of predictions that equal their label, of whatever dtypes") {
  const direct_value share = [](const columns& c) -> std::vector<double> {
    return {mean_over(c, [&](size_t i) { return c.label[i] == c.prediction[i]; })};
  };
  check_metric(
      class_rows(), [](symbol l, symbol p, symbol w) { return metrics::accuracy(l, p, {.weights = w}); }, share);
  check_metric(
      class_rows(),
      [](symbol l, symbol p, symbol w) { return metrics::accuracy(whole(l), cast(p, dtype::int32), {.weights = w}); },
      share);
  check_metric(
      class_rows(), [](symbol l, symbol p, symbol w) { return metrics::accuracy(whole(l), p, {.weights = w}); }, share);
  const auto boolean = [](symbol x) { return greater(x, number_like(x, 0.5)); };
  check_metric(
      binary_rows(),
      [&](symbol l, symbol p, symbol w) { return metrics::accuracy(boolean(l), boolean(p), {.weights = w}); },
      [](const columns& c) -> std::vector<double> {
        return {mean_over(c, [&](size_t i) { return (c.label[i] > 0.5f) == (c.prediction[i] > 0.5f); })};
      });
}

TEST_CASE("[MET-4] accuracy_baseline is the share of the more frequent of two labels") {
  for (const bool mostly : {false, true}) {
    columns data = binary_rows();
    for (auto& label : data.label)
      label = mostly ? 1 - label : label;
    check_metric(
        data, [](symbol l, symbol, symbol w) { return metrics::accuracy_baseline(l, {.weights = w}); },
        [](const columns& c) -> std::vector<double> {
          const double m = mean_over(c, [&](size_t i) { return c.label[i]; });
          return {std::max(m, 1 - m)};
        });
  }
}

TEST_CASE("[MET-5] binary_accuracy compares labels with predictions above a threshold, which itself is not above") {
  for (const double threshold : {0.5, 0.25})
    check_metric(
        binary_rows(),
        [=](symbol l, symbol p, symbol w) {
          return metrics::binary_accuracy(l, p, {.weights = w, .threshold = threshold});
        },
        [=](const columns& c) -> std::vector<double> {
          return {mean_over(
              c, [&](size_t i) { return (c.label[i] != 0) == (static_cast<double>(c.prediction[i]) > threshold); })};
        });
}

TEST_CASE("[MET-21] mean_squared_error is the weighted mean of squared errors") {
  check_metric(
      number_rows(), [](symbol l, symbol p, symbol w) { return metrics::mean_squared_error(l, p, {.weights = w}); },
      [](const columns& c) -> std::vector<double> {
        return {mean_over(c, [&](size_t i) { return error_at(c, i) * error_at(c, i); })};
      });
}

TEST_CASE(
    "[MET-22] root_mean_squared_error is the root of the mean over all rows, not a mean of the roots of batches") {
  check_metric(
      number_rows(),
      [](symbol l, symbol p, symbol w) { return metrics::root_mean_squared_error(l, p, {.weights = w}); },
      [](const columns& c) -> std::vector<double> {
        return {std::sqrt(mean_over(c, [&](size_t i) { return error_at(c, i) * error_at(c, i); }))};
      });
}

TEST_CASE("[MET-23] mean_absolute_error is the weighted mean of absolute errors") {
  check_metric(
      number_rows(), [](symbol l, symbol p, symbol w) { return metrics::mean_absolute_error(l, p, {.weights = w}); },
      [](const columns& c) -> std::vector<double> {
        return {mean_over(c, [&](size_t i) { return std::abs(error_at(c, i)); })};
      });
}

TEST_CASE(
    "[MET-24] mean_relative_error divides by a normaliser, and counts an error of 0 where that is 0, whichever of them "
    "is a column") {
  const auto direct = [](const columns& c) -> std::vector<double> {
    return {mean_over(
        c, [&](size_t i) { return c.label[i] == 0 ? 0 : std::abs(error_at(c, i)) / static_cast<double>(c.label[i]); })};
  };
  for (int which = 0; which < 8; ++which) {
    CAPTURE(which);
    const auto column = [which](symbol x, int bit) { return (which >> bit) % 2 == 1 ? expand_dims(x, -1) : x; };
    check_metric(
        number_rows(),
        [column](symbol l, symbol p, symbol w) {
          return metrics::mean_relative_error(column(l, 0), column(p, 1), column(l, 2), {.weights = w});
        },
        direct);
  }
}

TEST_CASE("[MET-26] mean_cosine_distance is 1 - the product of vectors of length 1, whichever axis they lie along") {
  const direct_value direct = [](const columns& c) -> std::vector<double> {
    return {mean_over(c, [&](size_t i) {
      const double l = static_cast<double>(c.label[i]), p = static_cast<double>(c.prediction[i]);
      return 1 - (l * p + 3 * l * (p - 1));
    })};
  };
  for (const int axis : {0, 1})
    check_metric(
        number_rows(),
        [=](symbol l, symbol p, symbol w) {
          return metrics::mean_cosine_distance(stack({l, 3 * l}, axis), stack({p, p - 1}, axis), axis, {.weights = w});
        },
        direct);
}

TEST_CASE(
    "[MET-27] log_loss is the mean of -y log(p + 1e-7) - (1 - y) log(1 - p + 1e-7), finite also where p is 0 or 1") {
  check_metric(
      binary_rows(), [](symbol l, symbol p, symbol w) { return metrics::log_loss(l, p, {.weights = w}); },
      [](const columns& c) -> std::vector<double> {
        return {mean_over(c, [&](size_t i) {
          const double y = static_cast<double>(c.label[i]), p = static_cast<double>(c.prediction[i]);
          return -y * std::log(p + 1e-7) - (1 - y) * std::log(1 - p + 1e-7);
        })};
      });
}

TEST_CASE("[MET-28] perplexity is the exponential of the mean over all rows") {
  check_metric(
      number_rows(), [](symbol l, symbol, symbol w) { return metrics::perplexity(l, {.weights = w}); },
      [](const columns& c) -> std::vector<double> {
        return {std::exp(mean_over(c, [&](size_t i) { return c.label[i]; }))};
      });
}

}  // namespace troupe::test
