#include "words/text.hpp"

#include <troupe/early_stopping.hpp>

#include <cmath>

namespace troupe {

namespace {

using kind = stop_rule::kind;

stop_rule make(kind what, std::string metric, stop_rule_options options) {
  return {.what = what, .metric = std::move(metric), .options = std::move(options)};
}

stop_rule with_threshold(kind what, std::string metric, double threshold, stop_rule_options options) {
  auto rule = make(what, std::move(metric), std::move(options));
  rule.threshold = threshold;
  return rule;
}

stop_rule with_steps(kind what, std::string metric, int64_t max_steps, stop_rule_options options) {
  auto rule = make(what, std::move(metric), std::move(options));
  rule.max_steps = max_steps;
  return rule;
}

bool is_trend(kind what) { return what == kind::no_increase || what == kind::no_decrease; }

expected<double> value_at(const stop_rule& rule, const evaluation_point& point) {
  if (const auto found = point.metrics.find(rule.metric); found != point.metrics.end())
    return found->second;
  const auto names = joined(point.metrics, ", ", [](const auto& metric) { return std::string_view{metric.first}; });
  return fail(errc::key_missing, "the rule '" + to_text(rule) + "' asks for the metric '" + rule.metric
                                     + "', which the evaluation of step " + std::to_string(point.step)
                                     + " does not have; it has " + (names.empty() ? "none" : names));
}

/// The text of a float32, the type of the values in histories.
std::string value_text(double value) { return shortest_text(static_cast<float>(value)); }

std::string reason(const stop_rule& rule, const evaluation_point& point) {
  return to_text(rule) + ": " + rule.metric + " was " + value_text(point.metrics.at(rule.metric)) + " at step "
         + std::to_string(point.step);
}

/// The reason to end at the first of `points` where the best value is too old; nothing if there is no such point.
expected<std::optional<std::string>> decide_trend(const stop_rule& rule,
                                                  const std::vector<const evaluation_point*>& points) {
  std::optional<double> best;
  int64_t best_step = 0, since_best = 0;
  for (const auto* point : points) {
    const auto value = value_at(rule, *point);
    if (!value)
      return fail(value.error());
    const double gain = best ? (rule.what == kind::no_increase ? *value - *best : *best - *value) : 0;
    if (!best || (std::isnan(*best) && !std::isnan(*value)) || gain > rule.options.min_delta) {
      best = *value;
      best_step = point->step;
      since_best = 0;
      continue;
    }
    ++since_best;
    if (point->step - best_step >= rule.max_steps && since_best >= rule.options.patience)
      return to_text(rule) + ": " + rule.metric + " was " + value_text(*best) + " at step " + std::to_string(best_step)
             + " and no better up to step " + std::to_string(point->step);
  }
  return std::nullopt;
}

expected<std::optional<std::string>> decide_by_predicate(const stop_rule& rule, const evaluation_history& history) {
  try {
    if (!rule.predicate(history))
      return std::nullopt;
  } catch (const std::exception& e) {
    return fail(errc::state, "the rule '" + to_text(rule) + "' threw: " + e.what());
  } catch (...) {
    return fail(errc::state, "the rule '" + to_text(rule) + "' threw something that is no std::exception");
  }
  return to_text(rule) + ", at step " + std::to_string(history.back().step);
}

}  // namespace

stop_rule stop_if_higher(std::string metric, double threshold, stop_rule_options options) {
  return with_threshold(kind::higher, std::move(metric), threshold, std::move(options));
}
stop_rule stop_if_lower(std::string metric, double threshold, stop_rule_options options) {
  return with_threshold(kind::lower, std::move(metric), threshold, std::move(options));
}
stop_rule stop_if_no_increase(std::string metric, int64_t max_steps, stop_rule_options options) {
  return with_steps(kind::no_increase, std::move(metric), max_steps, std::move(options));
}
stop_rule stop_if_no_decrease(std::string metric, int64_t max_steps, stop_rule_options options) {
  return with_steps(kind::no_decrease, std::move(metric), max_steps, std::move(options));
}
stop_rule stop_if(std::string name, std::function<bool(const evaluation_history&)> predicate,
                  stop_rule_options options) {
  auto rule = make(kind::predicate, {}, std::move(options));
  rule.name = std::move(name);
  rule.predicate = std::move(predicate);
  return rule;
}

std::string to_text(const stop_rule& rule) {
  const auto& o = rule.options;
  std::string text;
  switch (rule.what) {
    case kind::higher: text = rule.metric + " higher than " + shortest_text(rule.threshold); break;
    case kind::lower: text = rule.metric + " lower than " + shortest_text(rule.threshold); break;
    case kind::no_increase: text = "no increase of " + rule.metric; break;
    case kind::no_decrease: text = "no decrease of " + rule.metric; break;
    case kind::predicate: text = rule.name.empty() ? "a predicate" : rule.name; break;
  }
  if (is_trend(rule.what)) {
    if (o.min_delta > 0)
      text += " by more than " + shortest_text(o.min_delta);
    text += " within " + std::to_string(rule.max_steps) + " steps";
    if (o.patience > 1)
      text += " and " + std::to_string(o.patience) + " evaluations";
  }
  if (!o.evaluation.empty())
    text += " in evaluation '" + o.evaluation + "'";
  if (o.min_steps > 0)
    text += " from step " + std::to_string(o.min_steps) + " on";
  return text;
}

expected<void> validate(const stop_rule& rule) {
  const auto refuse = [&rule](const std::string& why) {
    return fail(errc::invalid_argument, "the rule '" + to_text(rule) + "': " + why);
  };
  const auto& o = rule.options;
  if (rule.what == kind::predicate && !rule.predicate)
    return refuse("there is no predicate");
  if (rule.what != kind::predicate && rule.metric.empty())
    return refuse("there is no metric");
  if (!is_trend(rule.what) && rule.what != kind::predicate && !std::isfinite(rule.threshold))
    return refuse("the threshold must be finite");
  if (is_trend(rule.what) && rule.max_steps < 1)
    return refuse("max_steps must be at least 1, not " + std::to_string(rule.max_steps));
  if (!(o.min_delta >= 0) || !std::isfinite(o.min_delta))
    return refuse("min_delta must be at least 0, not " + shortest_text(o.min_delta));
  if (o.patience < 1)
    return refuse("patience must be at least 1, not " + std::to_string(o.patience));
  return {};
}

expected<std::optional<std::string>> decide(const stop_rule& rule, const evaluation_history& history) {
  std::vector<const evaluation_point*> points;
  for (const auto& point : history)
    if (point.step >= rule.options.min_steps)
      points.push_back(&point);
  if (points.empty())
    return std::nullopt;
  if (is_trend(rule.what))
    return decide_trend(rule, points);
  if (rule.what == kind::predicate)
    return decide_by_predicate(rule, history);
  for (const auto* point : points) {
    const auto value = value_at(rule, *point);
    if (!value)
      return fail(value.error());
    if (rule.what == kind::higher ? *value > rule.threshold : *value < rule.threshold)
      return reason(rule, *point);
  }
  return std::nullopt;
}

}  // namespace troupe
