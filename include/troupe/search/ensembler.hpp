// Ensemblers: how the subnetworks of a candidate become an ensemble, and what of it is trained.
// Not needed to begin with.
//
//   tr::search_options{.ensemblers = {tr::complexity_regularized_ensembler{
//                          .optimizer = tr::adam{}, .adanet_lambda = 0.005, .use_bias = true}}}
//
// No gradient of an ensemble reaches its members.
#pragma once

#include <troupe/hook.hpp>
#include <troupe/search/subnetwork.hpp>

namespace troupe {

enum class mixture_weight : uint8_t {
  scalar,  ///< One number, times the logits.
  vector,  ///< One number for each column of the logits.
  matrix,  ///< last_layer times a matrix; the member's logits are not used.
};

/// bias + Σ w·h over the members, in their order: h are logits or last layers, w mixture weights. The loss of the
/// ensemble, adanet_loss, is the loss of the head plus Σ (adanet_lambda · complexity + adanet_beta) · |w|, where |w| is
/// the sum of the absolute values. Cortes et al. 2017, equation 4. Variables, where a head after the first one in the
/// order of the names has its number, "logits_1" and "bias_1":
/// adanet/iteration_<t>/ensemble_<spec>/{weighted_subnetwork_<k>/logits/mixture_weight,bias}.
struct complexity_regularized_ensembler {
  /// Minimises adanet_loss. Absent: weights and bias keep their initial values.
  std::optional<troupe::optimizer> optimizer = {};
  mixture_weight mixture_weight_type = mixture_weight::scalar;
  /// Absent: scalars and vectors begin with 1 / (number of members), matrices with 0.
  std::optional<initializer> mixture_weight_initializer = {};
  /// Kept members begin with the weights that they had in the previous ensemble, if that is of an ensembler with
  /// weights of this type; the bias too, if all members are kept.
  bool warm_start_mixture_weights = false;
  double adanet_lambda = 0;  ///< At least 0.
  double adanet_beta = 0;    ///< At least 0.
  bool use_bias = false;     ///< Trains the bias, which begins with 0.
  std::string name = "complexity_regularized";
  hook_maker hooks = {};  ///< Of each candidate's ensemble; see `builder::hooks`.
};

/// The mean of the members' logits, old and new ones. It has no variables.
struct mean_ensembler {
  std::string name = "mean";
  /// Adds the prediction "mean_last_layer", the mean of the last layers; by head "mean_last_layer_<head>". Their shapes
  /// must be equal.
  bool add_mean_last_layer_predictions = false;
};

/// A member of an ensemble.
struct ensembled_member {
  ensemble_member who = {};
  bool is_new = false;  ///< Whether it is of the iteration in which this ensemble was a candidate.
  by_head last_layer = {}, logits = {};
  double complexity = 0;
};
struct ensemble_context {
  std::vector<ensembled_member> members = {};  ///< Kept ones first.
  int64_t logits_dimension = 0;                ///< Of all heads together.
  troupe::mode mode = troupe::mode::train;
};
struct custom_ensemble {
  by_head logits = {};
  symbol regularization = {};                      ///< One floating element, added to the loss. Invalid: none.
  std::map<std::string, symbol> predictions = {};  ///< In addition to those of the head.
};
/// An ensemble of your own.
struct custom_ensembler {
  std::string name = {};
  /// Makes the ensemble, with variables in the scope adanet/iteration_<t>/ensemble_<spec>. It must do the same for the
  /// same arguments. Called on any thread.
  std::function<custom_ensemble(graph& g, const ensemble_context& c)> build = {};
  std::optional<troupe::optimizer> optimizer = {};  ///< Absent: the variables keep their initial values.
  hook_maker hooks = {};                            ///< Of each candidate's ensemble; see `builder::hooks`.
};

using ensembler = std::variant<complexity_regularized_ensembler, mean_ensembler, custom_ensembler>;

/// Checks the name, the optimizer, adanet_lambda and adanet_beta. Error: invalid_argument naming the ensembler, the
/// field and the value.
TROUPE_API expected<void> validate(const ensembler& e);
inline const std::string& name_of(const ensembler& e) {
  return std::visit([](const auto& one) -> const std::string& { return one.name; }, e);
}

}  // namespace troupe
