// Builders: each makes one subnetwork of an iteration of a search, and says how it is trained.
// Not needed to begin with.
//
//   tr::builder dnn{.name = "dnn",
//                   .build = [](tr::graph& g, const tr::build_context& c) -> tr::subnetwork {
//                     auto h = tr::nn::dense(c.features["pixels"], {.units = 64, .activation = tr::relu});
//                     auto logits = tr::nn::dense(h, {.units = c.logits_dimension});
//                     return {.last_layer = h, .logits = logits, .complexity = 1};
//                   },
//                   .optimizer = tr::adam{}};
#pragma once

#include <troupe/dataset.hpp>
#include <troupe/hook.hpp>
#include <troupe/search/report.hpp>
#include <troupe/search/subnetwork.hpp>

namespace troupe {

/// What a builder is called with.
struct build_context {
  troupe::features features;
  troupe::labels labels;  ///< Empty when predicting, except while a builder with `train_input` trains.
  troupe::mode mode = troupe::mode::train;
  int64_t logits_dimension = 0;  ///< Of all heads together.
  int64_t iteration = 0;
  const previous_outputs* previous = nullptr;  ///< Null in iteration 0.

  bool training() const noexcept { return mode == troupe::mode::train; }
};

/// What the training of a subnetwork minimises, and how.
struct subnetwork_training {
  symbol loss = {};  ///< One floating element.
  troupe::optimizer optimizer = adam{};
};

/// A plain value. Its functions must do the same for the same arguments, because subnetworks are built again to
/// evaluate, to predict and in each later iteration. They are called on any thread. Variables and summaries are in the
/// scope of the subnetwork: "adanet/iteration_0/subnetwork_t0_dnn/dense/kernel". What is wrong, and an exception, is an
/// error of the graph that names the builder.
struct builder {
  /// ASCII letters, digits and "_.-/"; unique in an iteration. Not "previous_ensemble".
  std::string name = {};
  /// Required.
  std::function<subnetwork(graph& g, const build_context& c)> build = {};
  /// Minimises the loss of the head. Absent, like `train`: the variables keep their initial values.
  std::optional<troupe::optimizer> optimizer = {};
  /// Replaces `optimizer`: a loss and an optimizer of its own, from the loss of the head. Called after `build`, only to
  /// train.
  std::function<subnetwork_training(graph& g, const subnetwork& made, symbol loss, const build_context& c)> train = {};
  /// For searches that make reports. Called after `build`, only to evaluate.
  std::function<builder_report(graph& g, const subnetwork& made, const build_context& c)> report = {};
  /// Data of its own to train on (bagging), with the features and labels of the search's data and batches of as many
  /// rows; needs `optimizer` or `train`. In each step the subnetwork is built on a batch of each: on its own in
  /// training mode, for its loss; on the search's to predict, for the ensembles that it is in. Both have the same
  /// variables. It cannot read outputs of the previous ensemble. The data begin anew with each iteration, and go on
  /// with it after a restart. Where they end, the subnetwork stops training ("the end of its input"), and goes on to
  /// predict.
  std::optional<dataset> train_input = {};
  /// Own steps after which the subnetwork stops training, if that is fewer than max_iteration_steps. At least 1.
  std::optional<int64_t> steps_max = {};
  /// Hooks of the subnetwork's own, which live as long as an iteration: they are made and begin with it, again after a
  /// restart, and end with it. They are called after the hooks of the search. All steps that they are told and ask for
  /// are the subnetwork's own, 0 at the beginning of the iteration; its values have no prefix ("loss"). Of events, too,
  /// they are shown the metrics and the loss of the subnetwork, and the checkpoints of the job; they are not shown
  /// evaluations of earlier iterations.
  /// `job_control::stop` stops the training of this subnetwork alone, after one step at least, and the search goes on;
  /// `scale_rate` throws, as the rate is that of the whole search.
  hook_maker hooks = {};
};

}  // namespace troupe
