// The option tables of [search] that the program adds to those of the library (options/search_fields.hpp).
#pragma once

#include "cli/configuration/data_options.hpp"
#include "cli/configuration/model_fields.hpp"

#include <troupe/options/search_fields.hpp>

namespace troupe::cli {

/// The values of search.generator.kind.
using generator_choice = std::variant<generators::simple_dnn_options, generators::simple_cnn_options,
                                      generators::linear_options>;

enum class named_strategy : uint8_t { grow, solo, all };
/// The key of [search] that is a list of objects in search_options.
struct strategy_options {
  std::vector<named_strategy> strategies = {named_strategy::grow};
};

/// One [[search.ensemblers]] of each kind, without its optimizer.
struct regularized_options {
  complexity_regularized_ensembler ensembler;
  std::optional<initializer> initial = {};
};
struct mean_options {
  mean_ensembler ensembler;
};
using ensembler_choice = std::variant<regularized_options, mean_options>;

/// [search.choose] of each kind.
struct choose_by_average {};
struct choose_by_evaluation {
  search_evaluator evaluator = {};  ///< Without its data.
  data_split data = data_split::train;
  int64_t batch_size = 500;
};
using choose_choice = std::variant<choose_by_average, choose_by_evaluation>;

/// One [[search.builders]], without its layers and its optimizer.
struct builder_options {
  std::string name = {};   ///< Required.
  double complexity = -1;  ///< Required: the default is out of range.
  std::optional<int64_t> steps_max = {};
  std::vector<int64_t> input_shape = {};
};

}  // namespace troupe::cli

namespace troupe {

template <>
struct option_choices<cli::named_strategy> {
  static constexpr std::pair<std::string_view, cli::named_strategy> all[] = {
      {"grow", cli::named_strategy::grow}, {"solo", cli::named_strategy::solo}, {"all", cli::named_strategy::all}};
};

template <>
struct option_fields<cli::strategy_options> {
  static constexpr std::tuple all{option_field{
      "strategies", &cli::strategy_options::strategies,
      "candidates of an iteration, as [\"grow\", \"all\"]: the ensemble before and one new network (grow), "
      "one new network (solo), the ensemble before and all new networks (all)"}};
};

template <>
struct option_fields<cli::regularized_options> {
  using options = cli::regularized_options;
  static constexpr std::string_view name = "complexity_regularized";
  static constexpr std::tuple all{option_part{&options::ensembler},
                                  option_field{"mixture_weight_initializer", &options::initial,
                                               "initial weights; unless given 1 / members, and 0 in a matrix"}};
};
template <>
struct option_fields<cli::mean_options> {
  static constexpr std::string_view name = "mean";
  static constexpr std::tuple all{option_part{&cli::mean_options::ensembler}};
};

template <>
struct option_fields<cli::choose_by_average> {
  static constexpr std::string_view name = "average";
  static constexpr std::tuple<> all{};
};
template <>
struct option_fields<cli::choose_by_evaluation> {
  using options = cli::choose_by_evaluation;
  static constexpr std::string_view name = "evaluation";
  static constexpr std::tuple all{
      option_part{&options::evaluator},
      option_field{"data", &options::data, "which of the examples; of format idx the files of [input] or [evaluate]"},
      option_field{"batch_size", &options::batch_size, "examples in a batch", field_range::at_least(1)}};
};

template <>
struct option_fields<cli::builder_options> {
  using options = cli::builder_options;
  static constexpr std::tuple all{
      option_field{"name", &options::name, "what its network is called"},
      option_field{"complexity", &options::complexity, "of its network, for the penalty of adanet_lambda",
                   field_range::at_least(0)},
      option_field{"steps_max", &options::steps_max, "own steps after which its network is trained no more",
                   field_range::at_least(1)},
      option_field{"input_shape", &options::input_shape,
                   "the shape of an example, as [28, 28, 1]; that of the data unless given", field_range::at_least(1)}};
};

}  // namespace troupe
