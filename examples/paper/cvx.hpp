// AdaNet.CVX: the paper's variant with units in closed form.
//
// A round adds one unit. With the weights D(i) ∝ Φ'(1 - y_i·f(x_i)) of the examples, Σ D = 1, and the correlations
// e_k[j] = Σ D(i)·y_i·z_{k-1,j}(x_i) of the labels with what layer k reads, the best unit of layer k has the weights
// Λ·e_k/‖e_k‖₂. The layer is that of the greatest Λ·‖e_k‖₂ - Γ_k, and the unit's weight w in f minimises F.
#pragma once

#include "examples/paper/objective.hpp"

#include <troupe/estimator.hpp>

namespace paper {

/// u(x) = Σ weights[j]·z_{k-1,j}(x). Layer 1 reads the features, z_0 = x; layer k > 1 reads z_{k-1} = relu of the units
/// of layer k-1 that there were when the unit was made, in the order of their making.
struct cvx_unit {
  int64_t layer = 1;
  std::vector<float> weights = {};
  double w = 0;  ///< Its weight in f.
};
using cvx_network = std::vector<cvx_unit>;

struct cvx_options {
  double weight_norm = 1;                     ///< Λ, above 0.
  double lambda = 0;                          ///< λ, at least 0.
  std::function<double(int64_t)> complexity;  ///< r_k of layer k, from 1. Required.
  int64_t rounds = 100;                       ///< T, at least 1.
};

/// The features are [batch, n]. Predictions: "f" and, of the newest unit, "u", both [batch, 1]. Metrics: "accuracy",
/// "loss", and the arrays "e_1", "e_2" ... of all layers that a unit may be added to.
tr::model cvx_model(const cvx_network& network);

/// The weights of the next unit, with w = 0, from e_1, e_2 ...; nothing if no layer has Λ·‖e_k‖₂ above Γ_k.
std::optional<cvx_unit> best_unit(const std::vector<std::vector<double>>& e, const cvx_options& o);

/// The w that minimises mean Φ(1 - y·f - w·y·u) + penalty·|w|, from the products y·f and y·u of all examples. F is
/// convex in w; the root of its slope is found to 1e-6 of w by bisection.
double line_search(const std::vector<double>& yf, const std::vector<double>& yu, double penalty);

struct cvx_grown {
  cvx_network network = {};
  std::vector<double> objective = {};  ///< F after each round.
};
/// The data of a search: one pass in batches, a feature and a label, and the labels once more, in the order of the
/// pass.
struct cvx_data {
  tr::dataset batches = {};
  std::vector<float> labels = {};
};
/// Adds units until F does not fall, at most `rounds`. `after_round` is called with the network after each round; an
/// error of it ends the search.
tr::expected<cvx_grown> grow_cvx(const cvx_options& o, const cvx_data& data,
                                 const std::function<tr::expected<void>(const cvx_grown&)>& after_round = {});

}  // namespace paper
