#include "models/metrics/curves.hpp"

#include "compute/kernels/elementary.hpp"

#include <algorithm>
#include <cmath>

namespace troupe::metrics {

namespace {

/// Keep ratios from being 0/0. The values are TensorFlow's, so that results agree with it.
constexpr double ratio_epsilon = 1e-7, curve_epsilon = 1e-6;

double ratio(double a, double b) { return b != 0 ? a / b : 0; }

/// The integral of precision over recall, in closed form: within an interval TP and FP change together, and precision
/// is TP / (TP + FP).
double interpolated_area(const threshold_counts& c) {
  double area = 0;
  for (size_t i = 0; i + 1 < c.tp.size(); ++i) {
    const double low = c.tp[i + 1] + c.fp[i + 1], high = c.tp[i] + c.fp[i], gained = c.tp[i] - c.tp[i + 1];
    const double slope = ratio(gained, std::max(high - low, 0.0)), intercept = c.tp[i + 1] - slope * low;
    const double growth = low > 0 && high > 0 ? high / low : 1;
    area += ratio(slope * (gained + intercept * elementary::log(growth)), std::max(c.tp[i + 1] + c.fn[i + 1], 0.0));
  }
  return area;
}

}  // namespace

threshold_counts counts_of(std::span<const double> positive, std::span<const double> negative) {
  const size_t n = positive.size() - 1;
  threshold_counts c;
  for (auto* each : {&c.tp, &c.fp, &c.fn, &c.tn})
    each->assign(n, 0);
  double tp = 0, fp = 0, fn = 0, tn = 0;
  for (size_t i = n; i-- > 0;) {  // A prediction is above threshold i if its bucket is a later one.
    c.tp[i] = tp += positive[i + 1];
    c.fp[i] = fp += negative[i + 1];
  }
  for (size_t i = 0; i < n; ++i) {
    c.fn[i] = fn += positive[i];
    c.tn[i] = tn += negative[i];
  }
  return c;
}

double area_under(const threshold_counts& c, curve of, summation how) {
  if (of == curve::pr && how == summation::careful_interpolation)
    return interpolated_area(c);
  std::vector<double> x(c.tp.size()), y(c.tp.size());
  for (size_t i = 0; i < x.size(); ++i) {
    const double recall = (c.tp[i] + curve_epsilon) / (c.tp[i] + c.fn[i] + curve_epsilon);
    x[i] = of == curve::roc ? c.fp[i] / (c.fp[i] + c.tn[i] + curve_epsilon) : recall;
    y[i] = of == curve::roc ? recall : (c.tp[i] + curve_epsilon) / (c.tp[i] + c.fp[i] + curve_epsilon);
  }
  double area = 0;
  for (size_t i = 0; i + 1 < x.size(); ++i) {
    const double height = how == summation::minoring   ? std::min(y[i], y[i + 1])
                          : how == summation::majoring ? std::max(y[i], y[i + 1])
                                                       : (y[i] + y[i + 1]) / 2;
    area += (x[i] - x[i + 1]) * height;
  }
  return area;
}

double precision_where_recall_reaches(const threshold_counts& c, double recall) {
  if (c.tp[0] + c.fp[0] + c.fn[0] + c.tn[0] == 0)
    return 0;
  for (size_t i = c.tp.size(); i-- > 0;)  // Recall falls as the threshold grows.
    if (const double positives = c.tp[i] + c.fn[i];
        positives > 0 ? c.tp[i] >= recall * positives * (1 - 1e-12) : recall <= 0)
      return (c.tp[i] + ratio_epsilon) / (c.tp[i] + c.fp[i] + ratio_epsilon);
  return 0;
}

double recall_where_precision_reaches(const threshold_counts& c, double precision) {
  for (size_t i = 0; i < c.tp.size(); ++i)  // The first that fits has the greatest recall.
    if (const double predicted = c.tp[i] + c.fp[i];
        predicted > 0 ? c.tp[i] >= precision * predicted * (1 - 1e-12) : precision <= 0)
      return ratio(c.tp[i], c.tp[i] + c.fn[i]);
  return 0;
}

double sensitivity_where_specificity_is(const threshold_counts& c, double specificity) {
  size_t nearest = 0;
  const auto distance = [&](size_t i) { return std::abs(c.tn[i] / (c.tn[i] + c.fp[i] + ratio_epsilon) - specificity); };
  for (size_t i = 1; i < c.tp.size(); ++i)
    if (distance(i) < distance(nearest))
      nearest = i;
  return c.tp[nearest] / (c.tp[nearest] + c.fn[nearest] + ratio_epsilon);
}

double specificity_where_sensitivity_is(const threshold_counts& c, double sensitivity) {
  size_t nearest = 0;
  const auto distance = [&](size_t i) { return std::abs(c.tp[i] / (c.tp[i] + c.fn[i] + ratio_epsilon) - sensitivity); };
  for (size_t i = 1; i < c.tp.size(); ++i)
    if (distance(i) <= distance(nearest))
      nearest = i;
  return c.tn[nearest] / (c.tn[nearest] + c.fp[nearest] + ratio_epsilon);
}

std::vector<double> even_thresholds(int64_t n) {
  std::vector<double> all;
  for (int64_t i = 0; i < n; ++i)
    all.push_back(static_cast<double>(i) / static_cast<double>(n - 1));
  all.front() = -1e-7;
  all.back() = 1 + 1e-7;
  return all;
}

}  // namespace troupe::metrics
