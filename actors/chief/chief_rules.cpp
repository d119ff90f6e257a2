// The rules by which evaluations end a job, and who is asked them.
#include "actors/chief/chief.hpp"
#include "words/book_properties.hpp"
#include "words/text.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

/// Predicates are user code, and may block: they are asked on the evaluator's thread. Returns whether an answer is awaited. Where the evaluator is
/// lost nobody evaluates, and its predicates end nothing.
expected<troupe::judgements::ruling> chief_state::ask_predicates(expected<troupe::judgements::ruling> found, const std::optional<evaluated>& of) {
  while (found && found->asks && !evaluator(found->asks->evaluation))
    found = judgements.answered(*found->asks, {});
  if (!found || !found->asks)
    return found;
  const auto which = found->asks->evaluation;
  const auto number = questions.ask(*found->asks, of);
  // Before it answers it may have to end what it does: an export, or an evaluation of the attempt before.
  const bool busy = evaluations.at(which).exports() || (!of && !evaluations.at(which).idle());
  arm(rule_wait(which), busy ? options.deadlines.evaluation : options.deadlines.hooks);
  self->send(evaluator(which), apply_rule{number, static_cast<int32_t>(found->asks->rule), judgements.history(which)});
  return found;
}

void chief_state::on_rule_applied(const rule_applied& x) {
  const auto asked = questions.take(x.number);
  if (!asked)
    return;
  const auto which = asked->what.evaluation;
  if (!questions.asked_of(which))
    disarm(rule_wait(which));
  const auto why = x.why.empty() ? std::nullopt : std::optional{x.why};
  const auto found = ask_predicates(x.ok ? judgements.answered(asked->what, why) : fail(x.cause), asked->of);
  if (found && found->asks)
    return;
  if (found)
    return asked->of ? conclude_evaluation(*asked->of, *found) : void();
  if (asked->of)
    evaluations.at(which).end();
  fail_after_save(found.error());
}

/// Where training waits for evaluations, the job ends at the evaluated state; elsewhere at the horizon, which may be its end already.
void chief_state::end_early() {
  if (ending.stops() || ending.fails() || now != phase::training)
    return;
  ending.remark = "ended early: " + judgements.why_ended();
  drain(horizon.until(), true);
}

/// Whether the job ends at that state because a rule has said so, and not by a stop or a failure.
bool chief_state::ends_by_rule_at(int64_t step) const {
  return judgements.has_ended() && horizon.end_is_final() && horizon.end() == step;
}

void chief_state::tell_verdict(checkpoint_id id) {
  const bool ends_here = ends_by_rule_at(id.step);
  if (ends_here)
    arm(chief_wait::verdict, options.deadlines.save);
  auto found = judgements.books(ends_here);
  if (const double factor = rates.at(id.step); factor != 1 || rates.says(id.step))
    found.emplace(rate_factor_property, shortest_text(factor));  // Also 1, which takes the place of another one.
  verdicts.sent();
  self->send(writer(), late_properties{attempt, id, std::move(found)});
}

void chief_state::on_late_properties_kept(const late_properties_kept& x) {
  if (!verdicts.kept() || !waiting.armed(chief_wait::verdict))
    return;
  disarm(chief_wait::verdict);
  verdicts.let_go();
  if (ends_by_rule_at(x.id.step))
    verdicts.end_is_said();
}

/// What event files have of this checkpoint is not evaluated again. Exporters make what is missing.
void chief_state::recall_evaluations(checkpoint_id id) {
  for (size_t i = 0; i < evaluations.size(); ++i) {
    const auto& settings = evaluations.settings(i);
    auto known = judgements.known_results(settings.name, id);
    if (!known || !evaluator(i))
      continue;
    results.metrics[settings.name] = std::move(*known);
    evaluations.at(i).recall(id);
    if (settings.exports)
      begin_export(i, id, false);
  }
}

/// A state that evaluators were shown is saved since, and can be the best.
void chief_state::judge_saved(size_t which, checkpoint_id id, const evaluation_values& found) {
  if (const auto is_best = judgements.consider(evaluations.settings(which).name, id, found); is_best && *is_best)
    tell_verdict(id);
}

/// Those who have evaluated the state before it was saved do not do so again.
void chief_state::judge_saved(checkpoint_id id) {
  for (size_t i = 0; i < evaluations.size(); ++i) {
    const auto& settings = evaluations.settings(i);
    const auto found = results.metrics.find(settings.name);
    if (evaluations.at(i).last() != id || found == results.metrics.end() || found->second.at("global_step") != static_cast<double>(id.step))
      continue;
    judge_saved(i, id, {found->second, i == 0 ? results.arrays : std::map<std::string, tensor>{}});
    if (settings.exports && evaluator(i))
      begin_export(i, id, false);
  }
}

}  // namespace troupe
