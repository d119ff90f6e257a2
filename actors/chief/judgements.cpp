#include "actors/chief/judgements.hpp"

#include "words/text.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {

namespace {

/// Adds a point; it replaces a point of the same step.
void add_point(evaluation_history& history, evaluation_point point) {
  const auto at = std::lower_bound(history.begin(), history.end(), point.step,
                                   [](const evaluation_point& p, int64_t step) { return p.step < step; });
  if (at != history.end() && at->step == point.step)
    *at = std::move(point);
  else
    history.insert(at, std::move(point));
}

/// The number of best checkpoints whose results are kept: attempts go back only to recent ones, and arrays may be
/// large.
constexpr size_t bests_max = 8;

}  // namespace

judgements::judgements(judgement_settings settings) : settings_(std::move(settings)) {}

std::optional<checkpoint_id> judgements::begin(int64_t step, const checkpoint_books& books) {
  began_at_ = step;
  for (auto& e : settings_.evaluations)
    std::erase_if(e.history, [step](const evaluation_point& p) { return p.step > step; });
  ended_.clear();
  ended_by_.clear();
  ended_before_ = end_in(books);
  const auto known_best = best_ && best_->step <= step && bests_.contains(*best_) ? best_ : std::nullopt;
  const double known_value = best_value_;
  best_.reset();
  best_results_ = {};
  if (!settings_.best)
    return std::nullopt;
  if (books.best && books.best->value) {
    best_ = books.best->id;
    best_value_ = *books.best->value;
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
      if (e.name == settings_.best->goal.evaluation && point.step == best_->step) {
        best_results_.metrics = point.metrics;
        best_results_.metrics.insert_or_assign("global_step", static_cast<double>(point.step));
      }
  if (const auto known = bests_.find(*best_); known != bests_.end())
    best_results_ = known->second;
  return named;
}

std::optional<std::map<std::string, double>> judgements::known_results(const std::string& evaluation,
                                                                       checkpoint_id id) const {
  for (const auto& e : settings_.evaluations)
    for (const auto& point : e.history)
      if (e.name == evaluation && point.step == id.step) {
        auto found = point.metrics;
        found.insert_or_assign("global_step", static_cast<double>(point.step));
        return found;
      }
  return std::nullopt;
}

std::map<std::string, double> judgements::results_of(const std::string& evaluation, checkpoint_id id) const {
  auto found = known_results(evaluation, id).value_or(std::map<std::string, double>{});
  if (const auto known = bests_.find(id); known != bests_.end() && settings_.best->goal.evaluation == evaluation)
    found = known->second.metrics;
  found.insert_or_assign("global_step", static_cast<double>(id.step));
  return found;
}

bool judgements::improves(double value) const {
  if (std::isnan(value))
    return false;
  return !best_ || settings_.best->goal.is_better(value, best_value_);
}

expected<bool> judgements::consider(const std::string& evaluation, checkpoint_id id, const evaluation_values& values) {
  if (!settings_.best || settings_.best->goal.evaluation != evaluation)
    return false;
  const auto found = values.metrics.find(settings_.best->goal.metric);
  if (found == values.metrics.end())
    return fail(errc::key_missing,
                "keep_best asks for the metric '" + settings_.best->goal.metric + "'; the evaluation has "
                    + joined(values.metrics, ", ", [](const auto& m) { return std::string_view{m.first}; }));
  if (!improves(found->second))
    return false;
  second_best_ = best_ ? std::optional{std::pair{*best_, best_value_}} : std::nullopt;
  best_ = id;
  best_value_ = found->second;
  best_results_ = bests_[id] = values;
  if (bests_.size() > bests_max)
    bests_.erase(bests_.begin());  // Its metrics in event files are enough.
  return true;
}

void judgements::take_back_best() {
  if (best_)
    bests_.erase(*best_);
  best_.reset();
  best_results_ = {};
  if (const auto before = std::exchange(second_best_, std::nullopt)) {
    best_ = before->first;
    best_value_ = before->second;
    if (const auto known = bests_.find(*best_); known != bests_.end())
      best_results_ = known->second;
  }
}

expected<judgements::verdict> judgements::judge(const std::string& evaluation, checkpoint_id id,
                                                const evaluation_values& values, bool saved) {
  verdict result;
  if (saved) {
    const auto is_best = consider(evaluation, id, values);
    if (!is_best)
      return fail(is_best.error());
    result.is_best = *is_best;
  }
  auto& all = settings_.evaluations;
  const auto judged = std::find_if(all.begin(), all.end(),
                                   [&](const judged_evaluation& e) { return e.name == evaluation; });
  if (judged == all.end())
    return result;
  // Rounded to float32, as event files store them: a later run reads them there and must reach the same verdicts.
  evaluation_point point{id.step};
  for (const auto& [name, value] : values.metrics)
    if (name != "global_step")
      point.metrics.emplace(name, static_cast<double>(static_cast<float>(value)));
  add_point(judged->history, std::move(point));
  auto found = apply_rules({static_cast<size_t>(judged - all.begin())});
  if (!found)
    return fail(found.error());
  static_cast<ruling&>(result) = std::move(*found);
  return result;
}

judgements::ruling judgements::end_by(const stop_rule& rule, std::string why) {
  ended_ = std::move(why);
  ended_by_ = to_text(rule);
  return {.ends = ended_};
}

expected<judgements::ruling> judgements::answered(question asked, const std::optional<std::string>& why) {
  if (why)
    return end_by(settings_.rules[asked.rule], *why);
  ++asked.rule;
  return apply_rules(asked);
}

expected<judgements::ruling> judgements::apply_rules(question from) {
  for (; from.evaluation < settings_.evaluations.size(); ++from.evaluation, from.rule = 0) {
    const auto& e = settings_.evaluations[from.evaluation];
    for (; from.rule < settings_.rules.size(); ++from.rule) {
      const auto& rule = settings_.rules[from.rule];
      if (rule.options.evaluation != e.name || e.history.empty() || e.history.back().step < rule.options.min_steps)
        continue;
      if (rule.what == stop_rule::kind::predicate)
        return ruling{.asks = from};
      auto why = decide(rule, e.history);
      if (!why)
        return fail(why.error());
      if (*why)
        return end_by(rule, std::move(**why));
    }
    if (!from.of_all)
      break;
  }
  return ruling{};
}

bool judgements::take_best(checkpoint_id id, double value) {
  if (!settings_.best || best_ == id || !improves(value))
    return false;
  best_ = id;
  best_value_ = value;
  best_results_ = {};
  return true;
}

bool judgements::take_end(const std::string& rule, std::string why) {
  if (has_ended() || !has_rule(rule))
    return false;
  ended_ = std::move(why);
  ended_by_ = rule;
  return true;
}

void judgements::enter(checkpoint_books& books, bool ends_here) const {
  if (settings_.best && best_)
    books.best = {*best_, best_value_, settings_.best->restore_best};
  if (ends_here && has_ended())
    books.ended = {"early: " + ended_, ended_by_};
}

bool judgements::has_rule(const std::string& text) const {
  return std::any_of(settings_.rules.begin(), settings_.rules.end(),
                     [&text](const stop_rule& r) { return to_text(r) == text; });
}

std::optional<std::string> judgements::end_in(const checkpoint_books& books) const {
  return books.ended && has_rule(books.ended->rule) ? std::optional{books.ended->why} : std::nullopt;
}

}  // namespace troupe
