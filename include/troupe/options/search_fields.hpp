// The tables of the fields of searches (options/option_field.hpp), but not of heads, data, optimizers, functions and
// placement.
// Not needed to begin with.
#pragma once

#include <troupe/options/option_field.hpp>
#include <troupe/search/generators.hpp>
#include <troupe/search/options.hpp>

namespace troupe {

template <>
struct option_choices<candidate_not_finite> {
  static constexpr std::pair<std::string_view, candidate_not_finite> all[] = {{"fail", candidate_not_finite::fail},
                                                                              {"drop", candidate_not_finite::drop}};
};

template <>
struct option_choices<objective> {
  static constexpr std::pair<std::string_view, objective> all[] = {{"minimize", objective::minimize},
                                                                   {"maximize", objective::maximize}};
};

template <>
struct option_choices<mixture_weight> {
  static constexpr std::pair<std::string_view, mixture_weight> all[] = {
      {"scalar", mixture_weight::scalar}, {"vector", mixture_weight::vector}, {"matrix", mixture_weight::matrix}};
};

#define TROUPE_FIELD(field, ...) \
  option_field { #field, &options::field, __VA_ARGS__ }

template <>
struct option_fields<search_options> {
  using options = search_options;
  static constexpr std::tuple all{
      TROUPE_FIELD(max_iteration_steps, "own steps of each network and ensemble in an iteration; no limit unless given",
                   field_range::at_least(1)),
      TROUPE_FIELD(max_iterations, "iterations; no limit unless given", field_range::at_least(1)),
      TROUPE_FIELD(force_grow, "the ensemble of the iteration before may not win again"),
      TROUPE_FIELD(replicate_ensemble_in_training,
                   "members of the ensemble before are in training mode, dropout included"),
      TROUPE_FIELD(adanet_loss_decay, "share of the average of adanet_loss that a step keeps", field_range::fraction()),
      TROUPE_FIELD(on_candidate_not_finite, "a network or ensemble that is not finite fails the search, or leaves it"),
      TROUPE_FIELD(replay_indices, "of each iteration the index of its winner, as [1, 2]: repeats another search",
                   field_range::at_least(0)),
      TROUPE_FIELD(cache_bytes_max, "bytes of outputs of earlier members that are kept between epochs",
                   field_range::at_least(0)),
      TROUPE_FIELD(export_subnetwork_logits, "exports also yield the logits of each member"),
      TROUPE_FIELD(export_subnetwork_last_layer, "exports also yield the last layer of each member"),
      TROUPE_FIELD(enable_ensemble_summaries, "summaries of each ensemble"),
      TROUPE_FIELD(enable_subnetwork_summaries, "summaries of each network"),
      TROUPE_FIELD(debug, "features and labels that are not finite fail the step")};
};

template <>
struct option_fields<search_evaluator> {
  using options = search_evaluator;
  static constexpr std::tuple all{
      option_field{"metric", &options::metric_name, "the metric by which candidates are compared"},
      TROUPE_FIELD(objective, "whether smaller values of it are better, or greater ones"),
      TROUPE_FIELD(steps, "batches; all of the data unless given", field_range::at_least(1))};
};

/// All fields except the optimizer and the initializer.
template <>
struct option_fields<complexity_regularized_ensembler> {
  using options = complexity_regularized_ensembler;
  static constexpr std::tuple all{
      TROUPE_FIELD(mixture_weight_type,
                   "a member's weight: a number, one for each logit, or a matrix for its last layer"),
      TROUPE_FIELD(warm_start_mixture_weights, "kept members begin with the weights that they had"),
      TROUPE_FIELD(adanet_lambda, "strength of the penalty by complexity and weight", field_range::at_least(0)),
      TROUPE_FIELD(adanet_beta, "strength of the penalty by weight alone", field_range::at_least(0)),
      TROUPE_FIELD(use_bias, "train a bias as well"),
      TROUPE_FIELD(name, "what it is called; its kind unless given")};
};
template <>
struct option_fields<mean_ensembler> {
  using options = mean_ensembler;
  static constexpr std::tuple all{
      TROUPE_FIELD(add_mean_last_layer_predictions, "predict the mean of the last layers as well"),
      TROUPE_FIELD(name, "what it is called; its kind unless given")};
};

/// The purposes of fields that several generators have.
namespace generator_purposes {
inline constexpr std::string_view features = "only these features; all unless given",
                                  name = "what its networks are called; its kind unless given";
}  // namespace generator_purposes

/// All fields except the optimizer, as of the other generators.
template <>
struct option_fields<generators::simple_dnn_options> {
  using options = generators::simple_dnn_options;
  static constexpr std::string_view name = "simple_dnn";
  static constexpr std::tuple all{
      TROUPE_FIELD(features, generator_purposes::features),
      TROUPE_FIELD(layer_size, "units of a hidden layer", field_range::at_least(1)),
      TROUPE_FIELD(initial_num_layers, "hidden layers of the smaller network in iteration 0", field_range::at_least(0)),
      TROUPE_FIELD(dropout, "share of units dropped while training", field_range::fraction()),
      TROUPE_FIELD(seed, "of initial values, with the iteration; run.seed unless given")};
};
template <>
struct option_fields<generators::simple_cnn_options> {
  using options = generators::simple_cnn_options;
  static constexpr std::string_view name = "simple_cnn";
  static constexpr std::tuple all{
      TROUPE_FIELD(filters, "outputs of the convolution at each place", field_range::at_least(1)),
      TROUPE_FIELD(units, "outputs of the dense layer", field_range::at_least(1)),
      TROUPE_FIELD(input_shape, "the image in an example, as [28, 28, 1]; the shape of the data unless given",
                   field_range::at_least(1)),
      option_field{"name", &options::name, generator_purposes::name}};
};
template <>
struct option_fields<generators::linear_options> {
  using options = generators::linear_options;
  static constexpr std::string_view name = "linear";
  static constexpr std::tuple all{TROUPE_FIELD(features, generator_purposes::features),
                                  option_field{"name", &options::name, generator_purposes::name}};
};

#undef TROUPE_FIELD

}  // namespace troupe
