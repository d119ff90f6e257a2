// The [warm_start] table of a configuration.
#pragma once

#include "cli/configuration/settings.hpp"

#include <troupe/options/warm_start_fields.hpp>

namespace troupe::cli {

/// A row of [[warm_start.names]]. The rows make up the field var_name_to_prev_var_name.
struct renamed_variable {
  std::string variable = {}, previous = {};
};
/// The first key of [[warm_start.vocabularies]]; the others are those of vocab_info.
struct vocabulary_variable {
  std::string variable = {};
};

/// The settings of a warm start; absent if none of its keys was given. invalid_argument: a missing checkpoint, variable
/// or previous name, or an error of `validate`.
expected<std::optional<warm_start_settings>> make_warm_start(const settings& given);

}  // namespace troupe::cli

namespace troupe {

template <>
struct option_fields<cli::renamed_variable> {
  static constexpr std::tuple all{
      option_field{"variable", &cli::renamed_variable::variable, "the name of a variable"},
      option_field{"previous", &cli::renamed_variable::previous, "what the checkpoint calls it"}};
};
template <>
struct option_fields<cli::vocabulary_variable> {
  static constexpr std::tuple all{
      option_field{"variable", &cli::vocabulary_variable::variable, "the variable whose rows stand for words"}};
};

}  // namespace troupe
