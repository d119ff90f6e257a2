// An ensemble of ordinary models: a generator whose subnetworks are the models of a pool.
// Not needed to begin with.
//
//   const auto pool = tr::model_list{{.model = linear}, {.model = dnn}};
//   tr::search_options{.head = tr::multi_class_head{.classes = 10},
//                      .subnetwork_generator = tr::generators::auto_ensemble({.pool = pool})}
//
// Each model trains with its own loss and optimizer; the head of the search judges all of them by their logits.
// AdaNet's AutoEnsembleEstimator.
#pragma once

#include <troupe/search/generator.hpp>

namespace troupe {

/// A model of a pool, as a subnetwork. In a search it is built to train and to predict, never to evaluate.
struct pool_member {
  troupe::model model = {};
  /// The name of its builder. Empty: in a map the key; in a list the name of the model and its index, "linear_model0".
  std::string name = {};
  bool prediction_only = false;             ///< It is never trained, and keeps its initial values (`init::values`).
  std::optional<int64_t> steps_max = {};    ///< See `builder::steps_max`.
  std::optional<dataset> train_input = {};  ///< See `builder::train_input`. Not for one that only predicts.
};
using model_list = std::vector<pool_member>;
using model_map = std::map<std::string, pool_member>;  ///< Its builders are in the order of the keys.
/// The models of all iterations, or a function that returns those of one. It must return the same for the same
/// iteration, and may be called on any thread.
using model_pool = std::variant<model_list, model_map,
                                std::function<std::variant<model_list, model_map>(int64_t iteration)>>;

namespace generators {

struct auto_ensemble_options {
  model_pool pool = {};  ///< Required.
  /// The logits of a model among its predictions. Absent: "logits", or "predictions" of a model without these; of the
  /// heads of a multi_head those of each.
  std::function<by_head(const std::map<std::string, symbol>& predictions)> logits_fn = {};
  /// What MATRIX mixture weights multiply, among the predictions of a model. Absent: the logits.
  std::function<by_head(const std::map<std::string, symbol>& predictions)> last_layer_fn = {};
};
/// The models of the pool as the builders of each iteration. The complexity of each is 0, so that adanet_lambda has no
/// effect. Errors of the graph name the model: invalid_argument for one without a build function, loss or optimizer;
/// key_missing for predictions without logits.
TROUPE_API generator auto_ensemble(auto_ensemble_options options);

}  // namespace generators
}  // namespace troupe
