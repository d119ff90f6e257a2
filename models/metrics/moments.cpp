// Metrics of the variances of labels and predictions, from sums of squares.
#include "models/metrics/counted.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::metrics {

namespace {

/// Σ w·x·y - Σ w·x · Σ w·y / Σ w. Returns 0 if the difference is at most 1e-14 of the larger term: it is then rounding
/// error only.
double central(double xy, double x, double y, double weight) {
  if (weight == 0)
    return 0;
  const double product = x * y / weight, difference = xy - product;
  return std::abs(difference) > 1e-14 * std::max(std::abs(xy), std::abs(product)) ? difference : 0;
}

}  // namespace

metric r_squared(symbol labels, symbol predictions, options o, std::source_location at) {
  const auto all = count("metrics::r_squared", labels, predictions, o.weights, at);
  if (!all.valid())
    return {};
  const symbol y = as_double(all.labels, at), p = as_double(all.predictions, at);
  return {{all.total(square(sub(p, y, at), at)), all.total(square(y, at)), all.total(y), all.total_weight()},
          [](std::span<const tensor> totals) -> metric_value {
            const double sum = number_of(totals[2]),
                         spread = central(number_of(totals[1]), sum, sum, number_of(totals[3]));
            return spread > 0 ? 1 - number_of(totals[0]) / spread : 0.0;
          }};
}

metric pearson_correlation(symbol labels, symbol predictions, options o, std::source_location at) {
  const auto all = count("metrics::pearson_correlation", labels, predictions, o.weights, at);
  if (!all.valid())
    return {};
  const symbol y = as_double(all.labels, at), p = as_double(all.predictions, at);
  return {{all.total(mul(y, p, at)), all.total(square(y, at)), all.total(square(p, at)), all.total(y), all.total(p),
           all.total_weight()},
          [](std::span<const tensor> totals) -> metric_value {
            const double labels_sum = number_of(totals[3]), predictions_sum = number_of(totals[4]),
                         weight = number_of(totals[5]);
            const double of_labels = central(number_of(totals[1]), labels_sum, labels_sum, weight);
            const double of_predictions = central(number_of(totals[2]), predictions_sum, predictions_sum, weight);
            if (!(of_labels > 0) || !(of_predictions > 0))
              return 0.0;
            return std::clamp(central(number_of(totals[0]), labels_sum, predictions_sum, weight) / std::sqrt(of_labels)
                                  / std::sqrt(of_predictions),
                              -1.0, 1.0);
          }};
}

}  // namespace troupe::metrics
