#include "actors/chief/judgements.hpp"

#include "words/book_properties.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {

namespace {

/// Adds a point, in the place of one of the same step.
void add_point(evaluation_history& history, evaluation_point point) {
  const auto at = std::lower_bound(history.begin(), history.end(), point.step, [](const evaluation_point& p, int64_t step) { return p.step < step; });
  if (at != history.end() && at->step == point.step)
    *at = std::move(point);
  else
    history.insert(at, std::move(point));
}

const std::string* find(const judgements::properties& in, std::string_view name) {
  const auto found = in.find(std::string{name});
  return found == in.end() ? nullptr : &found->second;
}

/// Results are kept of so many checkpoints that were the best: attempts go back to recent ones, and arrays may be large.
constexpr size_t bests_max = 8;

}  // namespace

judgements::judgements(judgement_settings settings) : settings_(std::move(settings)) {}

std::optional<checkpoint_id> judgements::begin(int64_t step, const properties& of_checkpoint) {
  began_at_ = step;
  for (auto& e : settings_.evaluations)
    std::erase_if(e.history, [step](const evaluation_point& p) { return p.step > step; });
  ended_.clear();
  ended_by_.clear();
  const auto known_best = best_ && best_->step <= step && bests_.contains(*best_) ? best_ : std::nullopt;
  const double known_value = best_value_;
  best_.reset();
  best_results_ = {};
  const auto *best = find(of_checkpoint, best_property), *value = find(of_checkpoint, best_value_property);
  if (!settings_.best)
    return std::nullopt;
  if (best && value) {
    best_ = parse_checkpoint_id(*best);
    best_value_ = std::strtod(value->c_str(), nullptr);
  }
  const auto named = best_;
  if (known_best && improves(known_value)) {
    best_ = known_best;
    best_value_ = known_value;
  }
  if (!best_)
    return named;
  for (const auto& e : settings_.evaluations)
    for (const auto& point : e.history)
      if (e.name == settings_.best->evaluation && point.step == best_->step) {
        best_results_.metrics = point.metrics;
        best_results_.metrics.insert_or_assign("global_step", static_cast<double>(point.step));
      }
  if (const auto known = bests_.find(*best_); known != bests_.end())
    best_results_ = known->second;
  return named;
}

bool judgements::end_again() {
  for (const auto& e : settings_.evaluations) {
    if (e.history.empty() || e.history.back().step != began_at_)
      continue;
    if (const auto why = apply_rules(e); why && *why)
      return true;
  }
  return false;
}

std::map<std::string, double> judgements::results_of(const std::string& evaluation, checkpoint_id id) const {
  std::map<std::string, double> found;
  for (const auto& e : settings_.evaluations)
    for (const auto& point : e.history)
      if (e.name == evaluation && point.step == id.step)
        found = point.metrics;
  if (const auto known = bests_.find(id); known != bests_.end() && settings_.best->evaluation == evaluation)
    found = known->second.metrics;
  found.insert_or_assign("global_step", static_cast<double>(id.step));
  return found;
}

bool judgements::improves(double value) const {
  if (std::isnan(value))
    return false;
  return !best_ || (settings_.best->smaller ? value < best_value_ : value > best_value_);
}

expected<judgements::verdict> judgements::judge(const std::string& evaluation, checkpoint_id id, const evaluation_values& values, bool saved) {
  const auto& metrics = values.metrics;
  verdict result;
  if (settings_.best && settings_.best->evaluation == evaluation) {
    const auto found = metrics.find(settings_.best->metric);
    if (found == metrics.end())
      return fail(errc::key_missing, "keep_best asks for the metric '" + settings_.best->metric + "'; the evaluation has "
                                       + joined(metrics, ", ", [](const auto& m) { return std::string_view{m.first}; }));
    if (saved && improves(found->second)) {
      result.is_best = true;
      best_ = id;
      best_value_ = found->second;
      best_results_ = bests_[id] = values;
      if (bests_.size() > bests_max)
        bests_.erase(bests_.begin());  // What event files have of it is enough.
    }
  }
  auto& all = settings_.evaluations;
  const auto judged = std::find_if(all.begin(), all.end(), [&](const judged_evaluation& e) { return e.name == evaluation; });
  if (judged == all.end())
    return result;
  // As event files keep them: a later run of the job reads them there, and must come to the same verdicts.
  evaluation_point point{id.step};
  for (const auto& [name, value] : metrics)
    if (name != "global_step")
      point.metrics.emplace(name, static_cast<double>(static_cast<float>(value)));
  add_point(judged->history, std::move(point));
  auto why = apply_rules(*judged);
  if (!why)
    return fail(why.error());
  result.ends = std::move(*why);
  return result;
}

expected<std::optional<std::string>> judgements::apply_rules(const judged_evaluation& e) {
  for (const auto& rule : settings_.rules) {
    if (rule.options.evaluation != e.name)
      continue;
    auto why = decide(rule, e.history);
    if (!why)
      return fail(why.error());
    if (!*why)
      continue;
    ended_ = **why;
    ended_by_ = to_text(rule);
    return why;
  }
  return std::optional<std::string>{};
}

judgements::properties judgements::books(bool ends_here) const {
  properties all;
  if (settings_.best && best_) {
    all.emplace(best_property, to_string(*best_));
    all.emplace(best_value_property, shortest_text(best_value_));
    all.emplace(use_best_property, settings_.best->restore_best ? "true" : "false");
  }
  if (ends_here && has_ended()) {
    all.emplace(ended_property, "early: " + ended_);
    all.emplace(ended_by_property, ended_by_);
  }
  return all;
}

std::optional<std::string> judgements::ended_before(const properties& of_checkpoint) const {
  const auto *ended = find(of_checkpoint, ended_property), *by = find(of_checkpoint, ended_by_property);
  if (!ended || !by || std::none_of(settings_.rules.begin(), settings_.rules.end(), [by](const stop_rule& r) { return to_text(r) == *by; }))
    return std::nullopt;
  return *ended;
}

}  // namespace troupe
