// The objective of the AdaNet paper (Cortes, Gonzalvo, Kuznetsov, Mohri, Yang: "AdaNet: Adaptive Structural Learning of
// Artificial Neural Networks", ICML 2017), of m examples x with labels y of -1 and 1:
//
//   F = (1/m) Σ Φ(1 - y·f(x)) + Σ Γ_k·|w|,  f = Σ w·u(x),  Γ_k = λ·r_k
//
// The sums go over the units u of the network; k is the layer of a unit and r_k the complexity of its layer.
#pragma once

#include <troupe/heads.hpp>

namespace paper {

namespace tr = troupe;

/// Φ(x) = log(1 + e^x), the logistic one of the two that the paper names in section 3.
double surrogate(double x);
double surrogate_slope(double x);  ///< Φ'(x)

/// Labels 0 and 1, floating [batch] or [batch, 1], as -1 and 1 [batch, 1].
tr::symbol signs(tr::symbol labels);
/// The mean of Φ(1 - y·f) over a batch; `f` is [batch, 1].
tr::symbol surrogate_loss(tr::symbol labels, tr::symbol f);

/// One logit f, with `surrogate_loss` as the loss, the prediction "class_ids" (1 where f is above 0) and the metric
/// "accuracy". Labels as above.
tr::head paper_head();

struct complexity_options {
  int64_t inputs = 0;      ///< n_0: features of an example.
  int64_t units = 0;       ///< Of each hidden layer: B, or 1.
  int64_t examples = 0;    ///< m
  double input_max = 1;    ///< r_∞: the greatest absolute value of a feature.
  double weight_norm = 1;  ///< Λ_{s,s-1}: the norm of the weights of a unit, the same in all layers.
};
/// The complexity of layer `layer`, from 1: r_∞ · Λ_k · √N_k · √(log(2·n_0) / (2·m)), where Λ_k = Π 2·Λ_{s,s-1} and N_k
/// = Π n_{s-1} over s = 1 ... k. The paper's bound on the Rademacher complexity (lemma 2), by which it penalises
/// layers in its experiments, for 2-norms of weights: p = q = 2.
double layer_complexity(int64_t layer, const complexity_options& o);

}  // namespace paper
