// Metrics: how good a model is over all examples of an evaluation, or over the steps of training before a log point.
// Not needed to begin with.
//
//   spec.metrics = {{"auc", tr::metrics::auc(labels, probabilities)},
//                   {"confusion", tr::metrics::confusion_matrix(labels, classes, 10, {.weights = w})}};
//
// A metric is a list of float64 sums of one batch, and a pure function of their totals (model.hpp). docs/metrics.md has
// a table of formulas. If tf.metrics (TensorFlow 1.15) has a metric, its definition is used. Labels come before
// predictions, as in losses.hpp.
//
// Labels and predictions have one shape, except that a last extent of 1 is dropped from the one with more axes. They
// are of any numeric dtype unless a function says otherwise. `weights` are numbers that broadcast to the shape of the
// counted elements; weights with fewer axes have the first ones, so [batch] gives each row a weight. A weight that is
// negative or not finite is an error of the step that names its place. The result is a number unless a comment says
// array. If the weights of all data sum to 0, a number is 0, and so is each element of an array. Operands that do not
// fit and options out of range are errors of the graph with the source line; the metric then has no sums. A metric's
// symbols are valid while the graph lives. Any thread may call its function.
#pragma once

#include <troupe/model.hpp>

namespace troupe::metrics {

struct options {
  symbol weights = {};  ///< Invalid: 1 everywhere.
};

// -- means -----------------------------------------------------------------------

/// The weighted mean Σ w·x / Σ w.
TROUPE_API metric mean(symbol values, options o = {}, TROUPE_AT);
/// Σ w·x
TROUPE_API metric sum(symbol values, options o = {}, TROUPE_AT);

// -- classes ---------------------------------------------------------------------

/// The share of elements whose prediction equals the label. Both may be booleans.
TROUPE_API metric accuracy(symbol labels, symbol predictions, options o = {}, TROUPE_AT);
/// The accuracy of always predicting the more frequent of two classes: max(m, 1 - m), m the mean of labels in {0, 1}.
TROUPE_API metric accuracy_baseline(symbol labels, options o = {}, TROUPE_AT);

struct binary_accuracy_options {
  symbol weights = {};
  double threshold = 0.5;  ///< Finite.
};
/// The share of elements whose label is 1 and whose prediction is above the threshold, or whose label is 0 and whose
/// prediction is not. Predictions are floating.
TROUPE_API metric binary_accuracy(symbol labels, symbol predictions, binary_accuracy_options o = {}, TROUPE_AT);

/// The share of labels that are among the k classes with the greatest scores, ties included: fewer than k classes have
/// a greater score. Labels are integers [...], scores floating [..., classes], k is in [1, classes]. A label outside
/// [0, classes) is an error of the step; one whose score is not finite does not count as correct.
TROUPE_API metric top_k(symbol labels, symbol scores, int64_t k, options o = {}, TROUPE_AT);

struct precision_at_k_options {
  symbol weights = {};  ///< Weights of rows, [...].
  /// The share of the rows that predict this class for which it is among the labels. Absent: all classes.
  std::optional<int64_t> class_id = {};
};
/// The share of predicted classes that are among the labels of their row; each row predicts the k classes with the
/// greatest scores, the first ones among equals. Labels are integers [...], or several for each row, [..., labels];
/// scores are floating [..., classes]; k is in [1, classes]. A label outside [0, classes), such as -1 if a row has
/// fewer labels, is ignored.
TROUPE_API metric precision_at_k(symbol labels, symbol scores, int64_t k, precision_at_k_options o = {}, TROUPE_AT);

// From here on labels and predictions are integers in [0, classes); one outside is an error of the step that names its
// place and value. `classes` is at least 2, and at most 2^20, or 2048 for `confusion_matrix`.

/// The mean of the accuracies of single classes, over the classes among the labels (tf.metrics counts others as 0).
TROUPE_API metric mean_per_class_accuracy(symbol labels, symbol predictions, int64_t classes, options o = {},
                                          TROUPE_AT);
/// The mean over classes of true positives / (true positives + false positives + false negatives). Classes that are
/// neither among the labels nor among the predictions do not count.
TROUPE_API metric mean_iou(symbol labels, symbol predictions, int64_t classes, options o = {}, TROUPE_AT);
/// Array [classes, classes]: element [i, j] is the weight of the elements with label i and prediction j.
TROUPE_API metric confusion_matrix(symbol labels, symbol predictions, int64_t classes, options o = {}, TROUPE_AT);

// -- two classes -----------------------------------------------------------------
// Labels are 0 or 1, or booleans; any number except 0 is positive, as in tf.metrics. So are predictions here:

/// True positives / (true positives + false positives); 0 if nothing is predicted as positive.
TROUPE_API metric precision(symbol labels, symbol predictions, options o = {}, TROUPE_AT);
/// True positives / (true positives + false negatives); 0 if no label is positive.
TROUPE_API metric recall(symbol labels, symbol predictions, options o = {}, TROUPE_AT);
/// 2·precision·recall / (precision + recall) = 2·TP / (2·TP + FP + FN)
TROUPE_API metric f1(symbol labels, symbol predictions, options o = {}, TROUPE_AT);

/// Σ w of the elements that are predicted as positive and are positive; likewise for the other three cases.
TROUPE_API metric true_positives(symbol labels, symbol predictions, options o = {}, TROUPE_AT);
TROUPE_API metric false_positives(symbol labels, symbol predictions, options o = {}, TROUPE_AT);
TROUPE_API metric true_negatives(symbol labels, symbol predictions, options o = {}, TROUPE_AT);
TROUPE_API metric false_negatives(symbol labels, symbol predictions, options o = {}, TROUPE_AT);

// From here on predictions are floating probabilities; one outside [0, 1] is an error of the step that names its place
// and value. A prediction above a threshold is positive at it. They are compared in the dtype of the predictions.

/// Array [thresholds]: TP / (TP + FP + 1e-7) at each threshold. There is at least one, and each is in [0, 1].
TROUPE_API metric precision_at_thresholds(symbol labels, symbol predictions, std::vector<double> thresholds,
                                          options o = {}, TROUPE_AT);
/// Array [thresholds]: TP / (TP + FN + 1e-7).
TROUPE_API metric recall_at_thresholds(symbol labels, symbol predictions, std::vector<double> thresholds,
                                       options o = {}, TROUPE_AT);

/// Array [thresholds]: Σ w of one of the four cases at each threshold.
TROUPE_API metric true_positives_at_thresholds(symbol labels, symbol predictions, std::vector<double> thresholds,
                                               options o = {}, TROUPE_AT);
TROUPE_API metric false_positives_at_thresholds(symbol labels, symbol predictions, std::vector<double> thresholds,
                                                options o = {}, TROUPE_AT);
TROUPE_API metric true_negatives_at_thresholds(symbol labels, symbol predictions, std::vector<double> thresholds,
                                               options o = {}, TROUPE_AT);
TROUPE_API metric false_negatives_at_thresholds(symbol labels, symbol predictions, std::vector<double> thresholds,
                                                options o = {}, TROUPE_AT);

struct curve_options {
  symbol weights = {};
  /// Number n of thresholds, in [2, 100000]: i / (n - 1), except that the first is -1e-7 and the last 1 + 1e-7.
  int64_t thresholds = 200;
};
/// The precision at the greatest threshold whose recall is at least `recall`, in [0, 1]; 0 if there is none.
TROUPE_API metric precision_at_recall(symbol labels, symbol predictions, double recall, curve_options o = {},
                                      TROUPE_AT);
/// The greatest recall TP / (TP + FN) over the thresholds whose precision TP / (TP + FP) is at least `precision`, in
/// [0, 1]; 0 if there is none.
TROUPE_API metric recall_at_precision(symbol labels, symbol predictions, double precision, curve_options o = {},
                                      TROUPE_AT);
/// The sensitivity TP / (TP + FN + 1e-7) at the first threshold whose specificity TN / (TN + FP + 1e-7) is nearest to
/// `specificity`, in [0, 1].
TROUPE_API metric sensitivity_at_specificity(symbol labels, symbol predictions, double specificity,
                                             curve_options o = {}, TROUPE_AT);

/// The specificity TN / (TN + FP + 1e-7) at the last threshold whose sensitivity TP / (TP + FN + 1e-7) is nearest to
/// `sensitivity`, in [0, 1].
TROUPE_API metric specificity_at_sensitivity(symbol labels, symbol predictions, double sensitivity,
                                             curve_options o = {}, TROUPE_AT);

enum class curve : uint8_t {
  roc,  ///< Recall against the false positive rate.
  pr,   ///< Precision against recall.
};
enum class summation : uint8_t {
  trapezoidal,
  minoring,               ///< The lower end of each interval: a lower bound for the ROC curve.
  majoring,               ///< The upper end of each interval.
  careful_interpolation,  ///< pr: interpolates TP and FP, not precision. Davis & Goadrich 2006. roc: as trapezoidal.
};
struct auc_options {
  symbol weights = {};
  metrics::curve curve = metrics::curve::roc;
  metrics::summation summation = metrics::summation::trapezoidal;
  int64_t thresholds = 200;  ///< As in curve_options.
};
/// The area under the curve.
TROUPE_API metric auc(symbol labels, symbol predictions, auc_options o = {}, TROUPE_AT);

// -- numbers ---------------------------------------------------------------------
// In these formulas e = prediction - label.

TROUPE_API metric mean_squared_error(symbol labels, symbol predictions, options o = {}, TROUPE_AT);  ///< Σ w·e² / Σ w
TROUPE_API metric root_mean_squared_error(symbol labels, symbol predictions, options o = {}, TROUPE_AT);  ///< Its root.
TROUPE_API metric mean_absolute_error(symbol labels, symbol predictions, options o = {}, TROUPE_AT);  ///< Σ w·|e| / Σ w
/// Σ w·|e| / normaliser / Σ w. An element whose normaliser is 0 counts as an error of 0. It has the labels' shape.
TROUPE_API metric mean_relative_error(symbol labels, symbol predictions, symbol normaliser, options o = {}, TROUPE_AT);
/// 1 - Σ w·e² / Σ w·(label - mean label)²; 0 if all labels are equal.
TROUPE_API metric r_squared(symbol labels, symbol predictions, options o = {}, TROUPE_AT);
/// The mean of 1 - Σ label·prediction over `axis`, for vectors of norm 1 (tf.metrics.mean_cosine_distance). The weights
/// have the shape without `axis`.
TROUPE_API metric mean_cosine_distance(symbol labels, symbol predictions, int axis = -1, options o = {}, TROUPE_AT);
/// The mean of -label·log(p + 1e-7) - (1 - label)·log(1 - p + 1e-7) for probabilities p in [0, 1].
TROUPE_API metric log_loss(symbol labels, symbol predictions, options o = {}, TROUPE_AT);
/// e^(Σ w·x / Σ w) for losses x, such as the cross-entropies of tokens.
TROUPE_API metric perplexity(symbol losses, options o = {}, TROUPE_AT);
/// Weighted covariance / √(product of variances); 0 if a variance is 0.
TROUPE_API metric pearson_correlation(symbol labels, symbol predictions, options o = {}, TROUPE_AT);

}  // namespace troupe::metrics
