// Metrics: how good a model is over all the examples of an evaluation, or over the steps of training that a log point tells of.
// Not needed to begin with.
//
//   spec.metrics = {{"auc", tr::metrics::auc(labels, probabilities)},
//                   {"confusion", tr::metrics::confusion_matrix(labels, classes, 10, {.weights = w})}};
//
// A metric is the float64 sums of one batch and a pure function of their totals (model.hpp). docs/metrics.md has a table of formulas;
// definitions are those of tf.metrics (TensorFlow 1.15) where it has the metric. Labels come before predictions, as in losses.hpp.
//
// Labels and predictions are of one shape, of any numeric dtype unless a function says otherwise; an extent of 1 at the end of the longer
// one is dropped. `weights` are numbers that broadcast to the shape of the elements that are counted; weights of lower rank are those of
// the first axes, so that [batch] weighs rows. A weight that is negative or not finite is an error of the step that names its place. The
// result is a number unless it says array. Where the weights of all data sum to 0, a number is 0 and so is each element of an array.
// Operands that do not fit, and options outside of their ranges, are errors of the graph with the source line; the metric then has no sums.
// What is returned owns no memory of the graph but its symbols, which are valid while the graph lives. Its function may be called from any
// thread.
#pragma once

#include <troupe/model.hpp>

namespace troupe::metrics {

struct options {
  symbol weights = {};  ///< Invalid: 1 everywhere.
};

// -- means -----------------------------------------------------------------------

/// Σ w·x / Σ w
TROUPE_API metric mean(symbol values, options o = {}, TROUPE_AT);
/// Σ w·x
TROUPE_API metric sum(symbol values, options o = {}, TROUPE_AT);

// -- classes ---------------------------------------------------------------------

/// The share of elements whose prediction equals its label. Both may be booleans.
TROUPE_API metric accuracy(symbol labels, symbol predictions, options o = {}, TROUPE_AT);
/// What a model that always names the more frequent of two classes would reach: max(m, 1 - m), m the mean of labels in {0, 1}.
TROUPE_API metric accuracy_baseline(symbol labels, options o = {}, TROUPE_AT);

struct binary_accuracy_options {
  symbol weights = {};
  double threshold = 0.5;  ///< Finite.
};
/// The share of elements whose label, 0 or 1, says whether the prediction is above the threshold. Predictions are floating.
TROUPE_API metric binary_accuracy(symbol labels, symbol predictions, binary_accuracy_options o = {}, TROUPE_AT);

/// Labels are integers [...], scores floating [..., classes]: the share of labels with fewer than k classes of a greater score, so that
/// ties are in. k is in [1, classes]. A label outside [0, classes) is an error of the step; one whose score is not finite is not in.
TROUPE_API metric top_k(symbol labels, symbol scores, int64_t k, options o = {}, TROUPE_AT);

struct precision_at_k_options {
  symbol weights = {};                  ///< Of the rows [...].
  std::optional<int64_t> class_id = {}; ///< Only rows that predict this class count, and whether it is among their labels.
};
/// Labels are integers [...] or several of a row, [..., labels], scores floating [..., classes]: the share of the k classes of the greatest
/// scores, over all rows, that are among their row's labels. Of equal scores the first are the greater. k is in [1, classes]. A label outside
/// [0, classes), such as -1 where a row has fewer, is passed over.
TROUPE_API metric precision_at_k(symbol labels, symbol scores, int64_t k, precision_at_k_options o = {}, TROUPE_AT);

// Labels and predictions are integers in [0, classes); one outside is an error of the step that names its place and value. `classes` is
// at least 2, and at most 2^20; 2048 for `confusion_matrix`.

/// The mean of the classes' own accuracies over the classes that are among the labels (tf.metrics counts the others as 0).
TROUPE_API metric mean_per_class_accuracy(symbol labels, symbol predictions, int64_t classes, options o = {}, TROUPE_AT);
/// The mean over classes of true positives / (true positives + false positives + false negatives), without classes that are neither
/// among the labels nor among the predictions.
TROUPE_API metric mean_iou(symbol labels, symbol predictions, int64_t classes, options o = {}, TROUPE_AT);
/// Array [classes, classes]: row i, column j is the weight of what is i and was predicted as j.
TROUPE_API metric confusion_matrix(symbol labels, symbol predictions, int64_t classes, options o = {}, TROUPE_AT);

// -- two classes -----------------------------------------------------------------
// Labels are 0 or 1, or booleans: any number but 0 is positive, as tf.metrics casts them. So are predictions here:

/// True positives / (true positives + false positives); 0 where nothing is predicted positive.
TROUPE_API metric precision(symbol labels, symbol predictions, options o = {}, TROUPE_AT);
/// True positives / (true positives + false negatives); 0 where nothing is positive.
TROUPE_API metric recall(symbol labels, symbol predictions, options o = {}, TROUPE_AT);
/// 2·precision·recall / (precision + recall) = 2·TP / (2·TP + FP + FN)
TROUPE_API metric f1(symbol labels, symbol predictions, options o = {}, TROUPE_AT);

/// Σ w of the elements that are predicted positive and are so, and of the three others.
TROUPE_API metric true_positives(symbol labels, symbol predictions, options o = {}, TROUPE_AT);
TROUPE_API metric false_positives(symbol labels, symbol predictions, options o = {}, TROUPE_AT);
TROUPE_API metric true_negatives(symbol labels, symbol predictions, options o = {}, TROUPE_AT);
TROUPE_API metric false_negatives(symbol labels, symbol predictions, options o = {}, TROUPE_AT);

// From here on predictions are probabilities, floating; one outside [0, 1] is an error of the step that names its place and value.
// A prediction is positive at a threshold that it is above; thresholds are compared in the dtype of the predictions.

/// Array [thresholds]: TP / (TP + FP + 1e-7) at each of the thresholds, which are in [0, 1] and at least one.
TROUPE_API metric precision_at_thresholds(symbol labels, symbol predictions, std::vector<double> thresholds, options o = {}, TROUPE_AT);
/// Array [thresholds]: TP / (TP + FN + 1e-7).
TROUPE_API metric recall_at_thresholds(symbol labels, symbol predictions, std::vector<double> thresholds, options o = {}, TROUPE_AT);

/// Array [thresholds]: the four counts at each of them.
TROUPE_API metric true_positives_at_thresholds(symbol labels, symbol predictions, std::vector<double> thresholds, options o = {}, TROUPE_AT);
TROUPE_API metric false_positives_at_thresholds(symbol labels, symbol predictions, std::vector<double> thresholds, options o = {}, TROUPE_AT);
TROUPE_API metric true_negatives_at_thresholds(symbol labels, symbol predictions, std::vector<double> thresholds, options o = {}, TROUPE_AT);
TROUPE_API metric false_negatives_at_thresholds(symbol labels, symbol predictions, std::vector<double> thresholds, options o = {}, TROUPE_AT);

struct curve_options {
  symbol weights = {};
  int64_t thresholds = 200;  ///< n in [2, 100000]: i/(n-1), but -1e-7 for the first and 1 + 1e-7 for the last.
};
/// The precision at the greatest threshold whose recall is at least `recall`, in [0, 1]; 0 where there is none.
TROUPE_API metric precision_at_recall(symbol labels, symbol predictions, double recall, curve_options o = {}, TROUPE_AT);
/// The greatest recall TP / (TP + FN) of the thresholds whose precision TP / (TP + FP) is at least `precision`, in [0, 1]; 0 where there is none.
TROUPE_API metric recall_at_precision(symbol labels, symbol predictions, double precision, curve_options o = {}, TROUPE_AT);
/// The sensitivity TP / (TP + FN + 1e-7) at the first threshold whose specificity TN / (TN + FP + 1e-7) is nearest to `specificity`, in [0, 1].
TROUPE_API metric sensitivity_at_specificity(symbol labels, symbol predictions, double specificity, curve_options o = {}, TROUPE_AT);

/// The specificity TN / (TN + FP + 1e-7) at the last threshold whose sensitivity TP / (TP + FN + 1e-7) is nearest to `sensitivity`, in [0, 1].
TROUPE_API metric specificity_at_sensitivity(symbol labels, symbol predictions, double sensitivity, curve_options o = {}, TROUPE_AT);

enum class curve : uint8_t {
  roc,  ///< Recall over the rate of false positives.
  pr,   ///< Precision over recall.
};
enum class summation : uint8_t {
  trapezoidal,
  minoring,              ///< The lower of both ends of each interval: a lower bound for the ROC curve.
  majoring,              ///< The upper.
  careful_interpolation, ///< pr: TP and FP are interpolated, not the precision. Davis & Goadrich 2006. roc: as trapezoidal.
};
struct auc_options {
  symbol weights = {};
  metrics::curve curve = metrics::curve::roc;
  metrics::summation summation = metrics::summation::trapezoidal;
  int64_t thresholds = 200;  ///< As above.
};
/// The area under the curve.
TROUPE_API metric auc(symbol labels, symbol predictions, auc_options o = {}, TROUPE_AT);

// -- numbers ---------------------------------------------------------------------
// With e = prediction - label.

TROUPE_API metric mean_squared_error(symbol labels, symbol predictions, options o = {}, TROUPE_AT);       ///< Σ w·e² / Σ w
TROUPE_API metric root_mean_squared_error(symbol labels, symbol predictions, options o = {}, TROUPE_AT);  ///< Its root.
TROUPE_API metric mean_absolute_error(symbol labels, symbol predictions, options o = {}, TROUPE_AT);      ///< Σ w·|e| / Σ w
/// Σ w·|e| / normaliser / Σ w; an element whose normaliser is 0 counts with an error of 0. The normaliser has the shape of the labels.
TROUPE_API metric mean_relative_error(symbol labels, symbol predictions, symbol normaliser, options o = {}, TROUPE_AT);
/// 1 - Σ w·e² / Σ w·(label - mean label)²; 0 where all labels are equal.
TROUPE_API metric r_squared(symbol labels, symbol predictions, options o = {}, TROUPE_AT);
/// The mean of 1 - Σ label·prediction over `axis`, for vectors of length 1 (tf.metrics.mean_cosine_distance). Weights: the shape without it.
TROUPE_API metric mean_cosine_distance(symbol labels, symbol predictions, int axis = -1, options o = {}, TROUPE_AT);
/// The mean of -label·log(p + 1e-7) - (1 - label)·log(1 - p + 1e-7) of probabilities p in [0, 1].
TROUPE_API metric log_loss(symbol labels, symbol predictions, options o = {}, TROUPE_AT);
/// e^(Σ w·x / Σ w) of losses x, such as the cross-entropies of tokens.
TROUPE_API metric perplexity(symbol losses, options o = {}, TROUPE_AT);
/// Weighted covariance / √(product of variances); 0 where one of them is 0.
TROUPE_API metric pearson_correlation(symbol labels, symbol predictions, options o = {}, TROUPE_AT);

}  // namespace troupe::metrics
