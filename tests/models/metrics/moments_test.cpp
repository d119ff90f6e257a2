#include "tests/models/metrics/measure.hpp"

#include <troupe/metrics.hpp>

namespace troupe::test {

namespace {

double label_of(const columns& c, size_t i) { return static_cast<double>(c.label[i]); }
double prediction_of(const columns& c, size_t i) { return static_cast<double>(c.prediction[i]); }

/// Σ w·(a - mean a)·(b - mean b), in two passes over the rows.
template <class A, class B>
double covariance(const columns& c, A a, B b) {
  const double mean_a = mean_over(c, [&](size_t i) { return a(c, i); }),
               mean_b = mean_over(c, [&](size_t i) { return b(c, i); });
  return sum_over(c, [&](size_t i) { return (a(c, i) - mean_a) * (b(c, i) - mean_b); });
}

double value_of(const metric_builder& build, const columns& data) {
  measured m{build, false};
  return values_of(m.totals(data, 0, data.rows(), 7)).front();
}

}  // namespace

TEST_CASE("[MET-25] r_squared is 1 - the squared errors over the spread of labels, and 0 where all labels are equal") {
  const auto build = [](symbol l, symbol p, symbol w) { return metrics::r_squared(l, p, {.weights = w}); };
  check_metric(number_rows(), build, [](const columns& c) -> std::vector<double> {
    const double errors = sum_over(
        c, [&](size_t i) { return (prediction_of(c, i) - label_of(c, i)) * (prediction_of(c, i) - label_of(c, i)); });
    return {1 - errors / covariance(c, label_of, label_of)};
  });
  columns equal = number_rows();
  equal.label.assign(equal.rows(), 0.1f);
  CHECK(value_of(build, equal) == 0);
}

TEST_CASE(
    "[MET-29] pearson_correlation is the covariance over the root of both variances, and 0 where one of them is 0") {
  const auto build = [](symbol l, symbol p, symbol w) { return metrics::pearson_correlation(l, p, {.weights = w}); };
  check_metric(number_rows(), build, [](const columns& c) -> std::vector<double> {
    return {covariance(c, label_of, prediction_of)
            / std::sqrt(covariance(c, label_of, label_of) * covariance(c, prediction_of, prediction_of))};
  });
  columns one = number_rows();
  one.prediction.assign(one.rows(), 0.1f);
  CHECK(value_of(build, one) == 0);
  std::swap(one.label, one.prediction);
  CHECK(value_of(build, one) == 0);
  columns same = number_rows();
  same.prediction = same.label;
  CHECK(value_of(build, same) == doctest::Approx(1).epsilon(1e-12));
}

}  // namespace troupe::test
