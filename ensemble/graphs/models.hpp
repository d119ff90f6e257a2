// The models of an iteration: one for the group of each subnetwork and each ensemble, one for the previous ensemble,
// one that evaluates everything together, and the winner.
//
// Groups read the outputs of others as features (outputs.hpp); no gradient passes between them. Data with a
// feature whose name begins with "adanet/" are refused where ports are asked for. All models of a search name its
// variables alike, so that each can be computed from a checkpoint of the groups.
#pragma once

#include "ensemble/iteration_basis.hpp"

namespace troupe {

using shared_basis = std::shared_ptr<const iteration_basis>;

/// The group of a subnetwork of the open iteration. It minimises the loss of the head on the logits, or what its
/// builder wants. Each of its outputs is a prediction under its port's name.
model subnetwork_model(shared_basis basis, const std::string& builder);
/// The group of a candidate ensemble, whose members are features. Its loss is adanet_loss: the loss of the head, plus
/// the regularization once. (AdaNet 0.9 minimises it with the regularization twice, and reports it with it once.) It
/// keeps the moving average of its loss, and records what AdaNet records.
model ensemble_model(shared_basis basis, const candidate_spec& candidate);
/// The group of the previous ensemble, which there must be. All variables are frozen. Members are built to evaluate, or
/// to train with `replicate_ensemble_in_training`. Its loss is that of the head on the logits of the ensemble. The
/// outputs of all members and the logits of the ensemble are predictions under the names of their ports.
model previous_model(shared_basis basis);

/// The loss of that group from the logits of its ensemble, a feature with the name of their port.
model previous_loss_model(shared_basis basis);

/// The names of the features that a group reads from others, sorted; `data` is what the infeed gives. Errors: those of
/// the graph.
expected<std::vector<std::string>> ports_of_subnetwork(const shared_basis& basis, const std::string& builder,
                                                       const element_spec& data);
expected<std::vector<std::string>> ports_of_ensemble(const shared_basis& basis, const candidate_spec& candidate,
                                                     const element_spec& data);

/// The variables of which a group keeps moving averages while it trains. Evaluations read these in place of the
/// variables, and so does a later iteration whose previous ensemble has them. Errors: those of the graph.
expected<std::vector<std::string>> averaged_by_subnetwork(const shared_basis& basis, const std::string& builder,
                                                          const element_spec& data);
expected<std::vector<std::string>> averaged_by_ensemble(const shared_basis& basis, const candidate_spec& candidate,
                                                        const element_spec& data);
/// The tensor with the average of a variable.
std::string average_of(const std::string& variable);

struct composite_parts {
  std::vector<std::string> subnetworks = {};  ///< Builders of the open iteration.
  std::vector<candidate_spec> candidates = {};
  bool reports = false;  ///< Also the metrics that builders report of their subnetworks.
};
/// All subnetworks and candidates of the open iteration, for evaluations. The metrics of each are "<spec>/<metric>":
/// those of the head, "loss", for ensembles "adanet_loss", and those of `metric_fn`, of which later ones replace
/// earlier ones; where that replaces "loss", the head's is `head_loss_metric`, a reserved name. Its own loss is 0.
/// Predictions are not checked, so one that is not finite is a value of its metrics alone.
model composite_model(shared_basis basis, composite_parts parts);
inline constexpr std::string_view head_loss_metric = "head_loss";
/// The metrics of one spec among those of an evaluation of a composite model, by their plain names.
std::map<std::string, double> metrics_of(const std::map<std::string, double>& all, std::string_view spec);

/// An ensemble alone, to evaluate, predict and export. Predictions are those of the head and of the ensembler.
/// Signatures "subnetwork_logits" and "subnetwork_last_layer", by head with "_<head>", have the members' outputs by
/// spec, if the options want them. To train it is an error of the graph (failed_precondition).
model winner_model(shared_basis basis, const candidate_spec& winner);

/// Enters the complexities of the candidates. Errors: those of the graph.
expected<void> enter_complexities(const shared_basis& basis, const element_spec& data, iteration_specs& specs);

/// What the builders of the open iteration report, with their evaluated metrics among those of a composite model.
expected<std::vector<subnetwork_report>> own_reports(const shared_basis& basis, const element_spec& data);

}  // namespace troupe
