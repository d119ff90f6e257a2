#include "cli/configuration/stopping_setup.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace troupe::cli {

namespace {

constexpr std::string_view rules_key = "stop_early";

expected<stop_rule> make_rule(const settings& given, const std::string& at) {
  stop_early_options o;
  given.read_fields(at + ".", o);
  const bool by_threshold = o.rule == early_rule::higher || o.rule == early_rule::lower;
  const auto rule = option_text(o.rule);
  const auto needed = fmt::format("{}.{}", at, by_threshold ? "threshold" : "max_steps");
  if (by_threshold ? !o.threshold.has_value() : !o.max_steps.has_value())
    return fail(errc::invalid_argument,
                fmt::format("{}{} is missing: {}.rule is {}", given.origin(at + ".rule"), needed, at, rule));
  for (const char* field :
       {by_threshold ? "max_steps" : "threshold", by_threshold ? "min_delta" : "", by_threshold ? "patience" : ""})
    if (const auto key = fmt::format("{}.{}", at, field); *field != 0 && given.has(key))
      return fail(errc::invalid_argument,
                  fmt::format("{}{} belongs to {}, and {}.rule is {}", given.origin(key), key,
                              by_threshold ? "no_increase, no_decrease" : "higher, lower", at, rule));
  stop_rule_options options{o.evaluation, o.min_steps, o.min_delta, o.patience};
  switch (o.rule) {
    case early_rule::higher: return stop_if_higher(o.metric, *o.threshold, std::move(options));
    case early_rule::lower: return stop_if_lower(o.metric, *o.threshold, std::move(options));
    case early_rule::no_increase: return stop_if_no_increase(o.metric, *o.max_steps, std::move(options));
    case early_rule::no_decrease: break;
  }
  return stop_if_no_decrease(o.metric, *o.max_steps, std::move(options));
}

}  // namespace

expected<std::vector<stop_rule>> make_stop_rules(const settings& given) {
  std::vector<stop_rule> rules;
  for (int64_t i = 0; i < given.size_of_list(rules_key); ++i) {
    auto rule = make_rule(given, fmt::format("{}[{}]", rules_key, i));
    if (!rule)
      return fail(rule.error());
    rules.push_back(std::move(*rule));
  }
  return rules;
}

std::optional<keep_best> make_keep_best(const settings& given) {
  if (given.keys_beginning("keep_best.").empty())
    return std::nullopt;
  keep_best best;
  given.read_fields("keep_best.", best);
  return best;
}

expected<std::shared_ptr<hook>> make_plateau(const settings& given, const std::vector<std::string>& evaluations,
                                             const std::optional<std::string>& model_dir) {
  if (given.keys_beginning("reduce_on_plateau.").empty())
    return std::shared_ptr<hook>{};
  reduce_on_plateau_options options;
  given.read_fields("reduce_on_plateau.", options);
  if (std::find(evaluations.begin(), evaluations.end(), options.goal.evaluation) == evaluations.end())
    return fail(errc::invalid_argument,
                fmt::format("{}reduce_on_plateau needs an evaluation beside training {}; there {}",
                            given.origin("reduce_on_plateau.evaluation"),
                            options.goal.evaluation.empty() ? "without a name"
                                                            : fmt::format("named '{}'", options.goal.evaluation),
                            evaluations.empty() ? "is none" : "are others"));
  if (model_dir) {
    auto earlier = read_evaluations(
        fmt::format("{}/{}", *model_dir, options.goal.evaluation.empty() ? "eval" : "eval_" + options.goal.evaluation));
    if (!earlier)
      return fail(earlier.error());
    options.history = std::move(*earlier);
  }
  return reduce_on_plateau(std::move(options));
}

}  // namespace troupe::cli
