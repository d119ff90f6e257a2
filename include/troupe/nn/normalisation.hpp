// Normalisation layers. nn.hpp has the rules of all layers.
// Not needed to begin with.
#pragma once

#include <troupe/operations.hpp>

namespace troupe::nn {

struct layer_norm_options {
  int axes = 1;           ///< How many of the last axes are normalised together.
  double epsilon = 1e-5;  ///< ε
  bool gamma = true;      ///< Whether there is a trained factor.
  bool beta = true;       ///< Whether there is a trained offset.
  std::string name = "layer_norm";
};
/// gamma · (x - μ) / √(σ² + ε) + beta, where μ and σ² are mean and variance (divided by n) over the last axes. Ba et
/// al. 2016. Variables with the shape of these axes: `<name>/gamma`, which starts as ones, and `<name>/beta`, zeros.
TROUPE_API symbol layer_norm(symbol x, layer_norm_options options = {}, TROUPE_AT);

struct rms_norm_options {
  int axes = 1;  ///< As in layer_norm_options.
  double epsilon = 1e-6;
  bool gamma = true;
  std::string name = "rms_norm";
};
/// gamma · x / √(mean(x²) + ε) over the last axes. Zhang & Sennrich 2019, eq. 4. Variable with the shape of these axes:
/// `<name>/gamma`, which starts as ones.
TROUPE_API symbol rms_norm(symbol x, rms_norm_options options = {}, TROUPE_AT);

struct batch_norm_options {
  double momentum = 0.99;  ///< Share of the moving statistics that a step keeps, in [0, 1].
  double epsilon = 1e-3;
  bool gamma = true;
  bool beta = true;
  std::string name = "batch_norm";
};
/// gamma · (x - μ) / √(σ² + ε) + beta for each entry of the last axis of x [batch, ..., n]. Ioffe & Szegedy 2015. While
/// `training`, μ and σ² are mean and variance (divided by the count) over all other axes of the batch, and each step
/// sets m = momentum · m + (1 - momentum) · μ, and v in the same way from σ². Otherwise μ = m and σ² = v. If a batch
/// has several gradient shards, each is normalised by itself, and m and v become the mean of the shards' new values.
/// Variables [n]: `<name>/gamma` (starts as ones) and `<name>/beta` (zeros); not trained, m = `<name>/moving_mean`
/// (zeros) and v = `<name>/moving_variance` (ones).
TROUPE_API symbol batch_norm(symbol x, bool training, batch_norm_options options = {}, TROUPE_AT);

}  // namespace troupe::nn
