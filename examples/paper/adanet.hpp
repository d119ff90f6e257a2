// AdaNet as the paper has it: figure 3 and the two candidates of section 5.1.
//
// A round proposes two subnetworks, one as deep as the network so far and one that is deeper by a layer. Each unit of
// layer k reads the units of layer k-1, those of its own subnetwork and those of all earlier ones. What a subnetwork
// adds to f, its weights w included, is trained on the objective, while the network so far stays as it is. The better
// of the two joins the network if F falls; otherwise the search ends.
#pragma once

#include "examples/paper/objective.hpp"

#include <troupe/search/searcher.hpp>

namespace paper {

struct adanet_options {
  int64_t units = 50;                         ///< B: of each layer of a subnetwork, at least 1.
  double weight_norm = 1;                     ///< Λ: the greatest 2-norm of the weights of a unit, above 0.
  double lambda = 0;                          ///< λ, at least 0.
  std::function<double(int64_t)> complexity;  ///< r_k of layer k, from 1. Required.
  tr::optimizer optimizer = tr::adam{};       ///< Of the subnetworks.
  int64_t steps = 2000;                       ///< Of each subnetwork, at least 1.
  int64_t rounds = 5;                         ///< T, at least 1.
};

/// The subnetwork of this depth. Its outputs are its hidden layers, "layer_1" ..., [batch, units]. It adds
/// `last_layer` times w to f; `logits` are that product. Its penalty Γ_k·|w| is the output "penalty", [batch, 1].
tr::builder subnetwork_builder(const adanet_options& o, int64_t depth);
/// The two builders of a round, by the depth of the deepest member: "1_layer" and "2_layer" to begin with.
tr::generator two_depths(const adanet_options& o);
/// f as the sum of what the members add, and the sum of their penalties.
tr::ensembler sum_of_members();
/// The whole: F over `training`, which is read once for each choice, decides. `training` has one pass, in batches of
/// one size.
tr::searcher paper_search(const adanet_options& o, const tr::dataset& training, tr::run_config config);

struct grown_network {
  tr::architecture recipe = {};
  int64_t trained = 0;  ///< Subnetworks that have been trained, those that lost included.
  tr::estimator network = {};
};
/// Runs `paper_search` round by round until F does not fall, at most `rounds` times. `config.model_dir` is required,
/// and new. `batches` are the data to train on, endless; `training` is as above. `after_round` is called with the
/// network after each round that lowered F, and returns whether to go on; an error of it ends the search.
tr::expected<grown_network> grow(const adanet_options& o, const tr::dataset& batches, const tr::dataset& training,
                                 const tr::run_config& config,
                                 const std::function<tr::expected<bool>(const grown_network&)>& after_round = {});

}  // namespace paper
