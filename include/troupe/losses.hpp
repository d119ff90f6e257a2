// Losses: how far predictions are from labels, weighted and reduced to one number.
// Not needed to begin with.
//
//   spec.loss = tr::losses::sigmoid_cross_entropy(labels, logits, {.weights = w});
//
// Names, formulas, defaults and results are those of tf.losses (TensorFlow 1.15). Unless a function says otherwise,
// labels and predictions are floating, of one dtype and shape. A label that is not finite is an error of the step,
// which names the loss, the label and its place. Labels come before predictions and logits everywhere in Troupe.
#pragma once

#include <troupe/operations.hpp>

namespace troupe::losses {

/// How the losses l of elements with weights w become the result.
enum class reduction : uint8_t {
  none,                 ///< w·l, in the shape of l.
  sum,                  ///< Σ w·l
  mean,                 ///< Σ w·l / Σ w
  mean_nonzero,         ///< Σ w·l / the number of weights that are not 0, so that padding of weight 0 does not count.
  sum_over_batch_size,  ///< Σ w·l / the number of losses, independent of the weights: Keras' default.
};

struct options {
  symbol weights = {};  ///< Floating; broadcast to the shape of the losses. Invalid (the default): 1 everywhere.
  reduction reduce = reduction::mean_nonzero;
  /// For cross-entropies, s in [0, 1]: a label y of K classes becomes (1 - s)·y + s/K, a label of a sigmoid (1 - s)·y +
  /// s/2. Szegedy et al. 2016, section 7. An error for other losses, unless 0.
  double label_smoothing = 0;
};

/// -Σ over the last axis of labels · log softmax(logits): labels are probabilities [..., classes]; losses [...].
TROUPE_API symbol softmax_cross_entropy(symbol labels, symbol logits, options o = {}, TROUPE_AT);
/// -log softmax(logits)[label]: labels int32, int64 or uint8 [...], logits [..., classes]; losses [...]. A label
/// outside [0, classes) is an error of the step.
TROUPE_API symbol sparse_softmax_cross_entropy(symbol labels, symbol logits, options o = {}, TROUPE_AT);
/// log(1 + e^x) - x·labels for each logit x: labels are probabilities.
TROUPE_API symbol sigmoid_cross_entropy(symbol labels, symbol logits, options o = {}, TROUPE_AT);
/// (prediction - label)²
TROUPE_API symbol squared(symbol labels, symbol predictions, options o = {}, TROUPE_AT);
/// |prediction - label|
TROUPE_API symbol absolute(symbol labels, symbol predictions, options o = {}, TROUPE_AT);
/// With e = |prediction - label|: e²/2 where e <= delta, else delta·e - delta²/2. Huber 1964.
TROUPE_API symbol huber(symbol labels, symbol predictions, double delta = 1, options o = {}, TROUPE_AT);
/// max(0, 1 - (2·label - 1)·logit): labels are 0 or 1.
TROUPE_API symbol hinge(symbol labels, symbol logits, options o = {}, TROUPE_AT);
/// -label·log(p + ε) - (1 - label)·log(1 - p + ε) of probabilities p.
TROUPE_API symbol log(symbol labels, symbol predictions, double epsilon = 1e-7, options o = {}, TROUPE_AT);
/// Σ over the last axis of label·log(label / p), both limited to [1e-7, 1]; losses [...]. Kullback & Leibler 1951.
TROUPE_API symbol kl_divergence(symbol labels, symbol predictions, options o = {}, TROUPE_AT);

/// Weights and reduces losses of your own. If the weights sum to 0, the result is 0.
TROUPE_API symbol reduce(symbol losses, options o = {}, TROUPE_AT);

}  // namespace troupe::losses
