// Every metric once, for tests that measure all of them at once.
#pragma once

#include "tests/models/metrics/measure.hpp"

namespace troupe::test {

struct listed_metric {
  enum class rows : uint8_t { binary, classes, numbers } of;
  metric_builder build;
};

/// The metrics by name.
inline const std::map<std::string, listed_metric>& every_metric() {
  using rows = listed_metric::rows;
  using namespace metrics;
  static const std::map<std::string, listed_metric> all{
      {"mean", {rows::numbers, [](symbol, symbol p, symbol w) { return mean(p, {w}); }}},
      {"sum", {rows::numbers, [](symbol, symbol p, symbol w) { return sum(p, {w}); }}},
      {"accuracy", {rows::classes, [](symbol l, symbol p, symbol w) { return accuracy(whole(l), whole(p), {w}); }}},
      {"accuracy_baseline", {rows::binary, [](symbol l, symbol, symbol w) { return accuracy_baseline(l, {w}); }}},
      {"binary_accuracy", {rows::binary, [](symbol l, symbol p, symbol w) { return binary_accuracy(l, p, {w}); }}},
      {"top_k",
       {rows::classes,
        [](symbol l, symbol p, symbol w) {
          return top_k(whole(l), stack({p, l, 1 - p, 2 - l, p}, 1), 2, {w});
        }}},
      {"precision_at_k",
       {rows::classes,
        [](symbol l, symbol p, symbol w) {
          return precision_at_k(stack({whole(l), whole(p) - 1}, 1), stack({p, l, 1 - p, 2 - l, p}, 1), 2, {w});
        }}},
      {"mean_per_class_accuracy",
       {rows::classes,
        [](symbol l, symbol p, symbol w) { return mean_per_class_accuracy(whole(l), whole(p), 5, {w}); }}},
      {"mean_iou", {rows::classes, [](symbol l, symbol p, symbol w) { return mean_iou(whole(l), whole(p), 5, {w}); }}},
      {"confusion_matrix",
       {rows::classes, [](symbol l, symbol p, symbol w) { return confusion_matrix(whole(l), whole(p), 5, {w}); }}},
      {"precision",
       {rows::binary, [](symbol l, symbol p, symbol w) { return precision(l, greater(p, number_like(p, 0.5)), {w}); }}},
      {"recall",
       {rows::binary, [](symbol l, symbol p, symbol w) { return recall(l, greater(p, number_like(p, 0.5)), {w}); }}},
      {"f1", {rows::binary, [](symbol l, symbol p, symbol w) { return f1(l, greater(p, number_like(p, 0.5)), {w}); }}},
      {"precision_at_thresholds",
       {rows::binary,
        [](symbol l, symbol p, symbol w) {
          return precision_at_thresholds(l, p, {0.7, 0.3}, {w});
        }}},
      {"recall_at_thresholds",
       {rows::binary,
        [](symbol l, symbol p, symbol w) {
          return recall_at_thresholds(l, p, {0.7, 0.3}, {w});
        }}},
      {"true_positives",
       {rows::binary,
        [](symbol l, symbol p, symbol w) { return true_positives(l, greater(p, number_like(p, 0.5)), {w}); }}},
      {"false_positives",
       {rows::binary,
        [](symbol l, symbol p, symbol w) { return false_positives(l, greater(p, number_like(p, 0.5)), {w}); }}},
      {"true_negatives",
       {rows::binary,
        [](symbol l, symbol p, symbol w) { return true_negatives(l, greater(p, number_like(p, 0.5)), {w}); }}},
      {"false_negatives",
       {rows::binary,
        [](symbol l, symbol p, symbol w) { return false_negatives(l, greater(p, number_like(p, 0.5)), {w}); }}},
      {"true_positives_at_thresholds",
       {rows::binary,
        [](symbol l, symbol p, symbol w) {
          return true_positives_at_thresholds(l, p, {0.7, 0.3}, {w});
        }}},
      {"false_positives_at_thresholds",
       {rows::binary,
        [](symbol l, symbol p, symbol w) {
          return false_positives_at_thresholds(l, p, {0.7, 0.3}, {w});
        }}},
      {"true_negatives_at_thresholds",
       {rows::binary,
        [](symbol l, symbol p, symbol w) {
          return true_negatives_at_thresholds(l, p, {0.7, 0.3}, {w});
        }}},
      {"false_negatives_at_thresholds",
       {rows::binary,
        [](symbol l, symbol p, symbol w) {
          return false_negatives_at_thresholds(l, p, {0.7, 0.3}, {w});
        }}},
      {"recall_at_precision",
       {rows::binary, [](symbol l, symbol p, symbol w) { return recall_at_precision(l, p, 0.8, {w}); }}},
      {"specificity_at_sensitivity",
       {rows::binary, [](symbol l, symbol p, symbol w) { return specificity_at_sensitivity(l, p, 0.8, {w}); }}},
      {"precision_at_recall",
       {rows::binary, [](symbol l, symbol p, symbol w) { return precision_at_recall(l, p, 0.8, {w}); }}},
      {"sensitivity_at_specificity",
       {rows::binary, [](symbol l, symbol p, symbol w) { return sensitivity_at_specificity(l, p, 0.8, {w}); }}},
      {"auc", {rows::binary, [](symbol l, symbol p, symbol w) { return auc(l, p, {w}); }}},
      {"auc_precision_recall",
       {rows::binary,
        [](symbol l, symbol p, symbol w) {
          return auc(l, p, {w, curve::pr, summation::careful_interpolation});
        }}},
      {"mean_squared_error",
       {rows::numbers, [](symbol l, symbol p, symbol w) { return mean_squared_error(l, p, {w}); }}},
      {"root_mean_squared_error",
       {rows::numbers, [](symbol l, symbol p, symbol w) { return root_mean_squared_error(l, p, {w}); }}},
      {"mean_absolute_error",
       {rows::numbers, [](symbol l, symbol p, symbol w) { return mean_absolute_error(l, p, {w}); }}},
      {"mean_relative_error",
       {rows::numbers, [](symbol l, symbol p, symbol w) { return mean_relative_error(l, p, l, {w}); }}},
      {"r_squared", {rows::numbers, [](symbol l, symbol p, symbol w) { return r_squared(l, p, {w}); }}},
      {"mean_cosine_distance",
       {rows::numbers,
        [](symbol l, symbol p, symbol w) {
          return mean_cosine_distance(stack({l, p}, 1), stack({p, l}, 1), 1, {w});
        }}},
      {"log_loss", {rows::binary, [](symbol l, symbol p, symbol w) { return log_loss(l, p, {w}); }}},
      {"perplexity", {rows::numbers, [](symbol l, symbol, symbol w) { return perplexity(l, {w}); }}},
      {"pearson_correlation",
       {rows::numbers, [](symbol l, symbol p, symbol w) { return pearson_correlation(l, p, {w}); }}},
  };
  return all;
}

inline columns rows_for(listed_metric::rows of, size_t rows) {
  return of == listed_metric::rows::binary    ? binary_rows(rows)
         : of == listed_metric::rows::classes ? class_rows(rows)
                                              : number_rows(rows);
}

}  // namespace troupe::test
