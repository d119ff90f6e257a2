// [[stop_early]] and [keep_best]: when evaluations end a training, and which checkpoint is kept for its sake.
#pragma once

#include "cli/configuration/settings.hpp"

#include <troupe/estimator.hpp>

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

/// The rules as they were given. invalid_argument: a key that a rule lacks, or that belongs to another.
expected<std::vector<stop_rule>> make_stop_rules(const settings& given);
/// Absent unless one of its keys was given.
std::optional<keep_best> make_keep_best(const settings& given);

}  // namespace troupe::cli

namespace troupe {

template <> struct option_choices<cli::early_rule> {
  static constexpr std::pair<std::string_view, cli::early_rule> all[] = {{"higher", cli::early_rule::higher}, {"lower", cli::early_rule::lower},
                                                                         {"no_increase", cli::early_rule::no_increase},
                                                                         {"no_decrease", cli::early_rule::no_decrease}};
};

template <> struct option_fields<cli::stop_early_options> {
  using options = cli::stop_early_options;
  static constexpr std::tuple all{
    option_field{"rule", &options::rule, "what ends the training"},
    option_field{"metric", &options::metric, "of the evaluation"},
    option_field{"threshold", &options::threshold, "higher, lower: the value that has to be passed"},
    option_field{"max_steps", &options::max_steps, "no_increase, no_decrease: so many steps without a better value", field_range::at_least(1)},
    option_field{"evaluation", &options::evaluation, "the name of the [[evaluate]] whose results count"},
    option_field{"min_steps", &options::min_steps, "evaluations of earlier steps do not count", field_range::at_least(0)},
    option_field{"min_delta", &options::min_delta, "no_increase, no_decrease: a smaller change is none", field_range::at_least(0)},
    option_field{"patience", &options::patience, "no_increase, no_decrease: nor before so many evaluations without a better value",
                 field_range::at_least(1)}};
};

template <> struct option_fields<keep_best> {
  static constexpr std::tuple all{
    option_field{"evaluation", &keep_best::evaluation, "the name of the [[evaluate]] whose results count"},
    option_field{"metric", &keep_best::metric, "which value makes a checkpoint the best"},
    option_field{"smaller", &keep_best::smaller, "smaller values are better"},
    option_field{"restore_best", &keep_best::restore_best, "evaluate, predict and export use the best checkpoint in place of the newest"}};
};

}  // namespace troupe
