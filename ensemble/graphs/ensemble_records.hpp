// What an ensemble records while it trains: the moving average of its loss, and its summaries.
#pragma once

#include "ensemble/graphs/ensemble_graph.hpp"

namespace troupe {

/// Adds the variables of a `loss_average` with these keys to the graph of an ensemble, all float32 and assigned at
/// every step of training. Returns the average after the step, which has the bits of `loss_average::update`. An invalid
/// `regularization` is 0.
symbol keep_loss_average(graph& g, const ensemble_place& where, symbol adanet_loss, symbol regularization, float decay);

/// The tags of an ensemble, below its scope.
inline constexpr std::string_view adanet_loss_tag = "adanet_loss/adanet/adanet_weighted_ensemble",
                                  regularization_tag = "complexity_regularization/adanet/adanet_weighted_ensemble",
                                  weights_tag = "mixture_weights/adanet/adanet_weighted_ensemble",
                                  norms_tag = "mixture_weight_norms/adanet/adanet_weighted_ensemble/subnetwork",
                                  fractions_tag = "mixture_weight_fractions/adanet/adanet_weighted_ensemble/subnetwork";

/// Records the loss of the head, without regularization, in the scope of the ensemble.
void record_loss(graph& g, const ensemble_place& where, symbol loss);
/// Records the moving average, and for each head the regularization and the members' norms, as numbers, as shares of
/// their sum, and as a histogram, in the scope of the ensemble.
void record_ensemble(graph& g, const ensemble_place& where, const built_ensemble& made, symbol average);

}  // namespace troupe
