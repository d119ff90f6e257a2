// [[stop_early]], [keep_best] and [reduce_on_plateau]: the reactions to evaluations during training.
#pragma once

#include "cli/configuration/settings.hpp"

#include <troupe/estimator.hpp>
#include <troupe/hooks.hpp>
#include <troupe/options/metric_goal_fields.hpp>

namespace troupe::cli {

enum class early_rule : uint8_t { higher, lower, no_increase, no_decrease };

/// One [[stop_early]].
struct stop_early_options {
  early_rule rule = early_rule::no_decrease;
  std::string metric = "loss";
  std::optional<double> threshold = {};
  std::optional<int64_t> max_steps = {};
  std::string evaluation = {};
  int64_t min_steps = 0;
  double min_delta = 0;
  int64_t patience = 1;
};

/// The rules in the order in which they were given. invalid_argument: a missing key of a rule, or a key of another
/// rule.
expected<std::vector<stop_rule>> make_stop_rules(const settings& given);
/// Absent if none of its keys was given.
std::optional<keep_best> make_keep_best(const settings& given);
/// The hook of [reduce_on_plateau], which continues from the evaluations kept in `model_dir`; null if none of its keys
/// was given. `evaluations` are the names of the evaluations during training. invalid_argument: an evaluation that is
/// not one of these; an option out of range.
expected<std::shared_ptr<hook>> make_plateau(const settings& given, const std::vector<std::string>& evaluations,
                                             const std::optional<std::string>& model_dir);

}  // namespace troupe::cli

namespace troupe {

template <>
struct option_choices<cli::early_rule> {
  static constexpr std::pair<std::string_view, cli::early_rule> all[] = {{"higher", cli::early_rule::higher},
                                                                         {"lower", cli::early_rule::lower},
                                                                         {"no_increase", cli::early_rule::no_increase},
                                                                         {"no_decrease", cli::early_rule::no_decrease}};
};

template <>
struct option_fields<cli::stop_early_options> {
  using options = cli::stop_early_options;
  static constexpr std::tuple all{
      option_field{"rule", &options::rule, "what ends the training"},
      option_field{"metric", &options::metric, "of the evaluation"},
      option_field{"threshold", &options::threshold, "higher, lower: the value that has to be passed"},
      option_field{"max_steps", &options::max_steps, "no_increase, no_decrease: so many steps without a better value",
                   field_range::at_least(1)},
      option_field{"evaluation", &options::evaluation, "the name of the [[evaluate]] whose results count"},
      option_field{"min_steps", &options::min_steps, "evaluations of earlier steps do not count",
                   field_range::at_least(0)},
      option_field{"min_delta", &options::min_delta, "no_increase, no_decrease: a smaller change is none",
                   field_range::at_least(0)},
      option_field{"patience", &options::patience,
                   "no_increase, no_decrease: nor before so many evaluations without a better value",
                   field_range::at_least(1)}};
};

template <>
struct option_fields<keep_best> {
  static constexpr std::tuple all{
      option_part{&keep_best::goal},
      option_field{"restore_best", &keep_best::restore_best,
                   "evaluate, predict and export use the best checkpoint in place of the newest"}};
};

template <>
struct option_fields<reduce_on_plateau_options> {
  using options = reduce_on_plateau_options;
  static constexpr std::tuple all{
      option_part{&options::goal},
      option_field{"factor", &options::factor, "what the learning rate is multiplied by then",
                   field_range::inside(0, 1)},
      option_field{"patience", &options::patience, "so many evaluations without a better value are borne",
                   field_range::at_least(0)},
      option_field{"min_delta", &options::min_delta, "a smaller change is none", field_range::at_least(0)},
      option_field{"cooldown", &options::cooldown, "so many evaluations after a reduction do not count",
                   field_range::at_least(0)},
      option_field{"min_factor", &options::min_factor, "the rate stays above this share of its schedule",
                   field_range::between(0, 1)}};
};

}  // namespace troupe
