// Normalisation layers (nn.hpp has what all layers share).
// Not needed to begin with.
#pragma once

#include <troupe/operations.hpp>

namespace troupe::nn {

struct layer_norm_options {
  int axes = 1;           ///< How many of the last axes are normalised together.
  double epsilon = 1e-5;
  bool gamma = true;
  bool beta = true;
  std::string name = "layer_norm";
};
/// gamma · (x - μ) / √(σ² + ε) + beta, where μ and σ² are mean and variance (divided by n) over the last axes. Ba et al. 2016.
/// Variables `<name>/gamma`, ones, and `<name>/beta`, zeros, of the shape of those axes.
TROUPE_API symbol layer_norm(symbol x, layer_norm_options options = {}, TROUPE_AT);

struct rms_norm_options {
  int axes = 1;           ///< As above.
  double epsilon = 1e-6;
  bool gamma = true;
  std::string name = "rms_norm";
};
/// gamma · x / √(mean(x²) + ε) over the last axes. Zhang & Sennrich 2019, eq. 4. Variable `<name>/gamma`, ones, of the shape of
/// those axes.
TROUPE_API symbol rms_norm(symbol x, rms_norm_options options = {}, TROUPE_AT);

struct batch_norm_options {
  double momentum = 0.99;  ///< The share of the moving statistics that a step keeps.
  double epsilon = 1e-3;
  bool gamma = true;
  bool beta = true;
  std::string name = "batch_norm";
};
/// gamma · (x - μ) / √(σ² + ε) + beta for each entry of the last axis of x [batch, ..., n]. Ioffe & Szegedy 2015.
/// While training μ and σ² are mean and variance (divided by the count) over all other axes of this batch, and each
/// step moves m to momentum · m + (1 - momentum) · μ, and v likewise to σ²; otherwise μ = m and σ² = v. A batch that is
/// cut into gradient shards is normalised shard by shard, and m and v move to the mean of the shards' new values.
/// Variables [n]: `<name>/gamma`, ones, `<name>/beta`, zeros; `<name>/moving_mean`, zeros, and `<name>/moving_variance`, ones,
/// which are not trained.
TROUPE_API symbol batch_norm(symbol x, bool training, batch_norm_options options = {}, TROUPE_AT);

}  // namespace troupe::nn
