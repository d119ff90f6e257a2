// Pure functions of the four counts of a binary classifier at ascending thresholds, by the formulas of tf.metrics.
#pragma once

#include <troupe/metrics.hpp>

namespace troupe::metrics {

/// The weights of true and false positives and negatives at each threshold.
struct threshold_counts {
  std::vector<double> tp, fp, fn, tn;
};

/// The counts from the weights of positive and negative labels by bucket. Bucket j of n + 1 has the predictions that
/// are above exactly the first j of n thresholds.
threshold_counts counts_of(std::span<const double> positive, std::span<const double> negative);

/// The area under the curve, whose points run from the lowest threshold to the highest.
double area_under(const threshold_counts& c, curve of, summation how);
double precision_where_recall_reaches(const threshold_counts& c, double recall);
double recall_where_precision_reaches(const threshold_counts& c, double precision);
/// At the threshold whose specificity is nearest; the first of equals.
double sensitivity_where_specificity_is(const threshold_counts& c, double specificity);
/// At the threshold whose sensitivity is nearest; the last of equals.
double specificity_where_sensitivity_is(const threshold_counts& c, double sensitivity);

/// n thresholds i/(n-1), the first just below 0 and the last just above 1.
std::vector<double> even_thresholds(int64_t n);

}  // namespace troupe::metrics
