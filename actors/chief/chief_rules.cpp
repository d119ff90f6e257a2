// The rules by which evaluations end a job, and the evaluators that apply predicates.
#include "actors/chief/chief_subjects.hpp"
#include "words/checkpoint_books.hpp"
#include "words/text.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

/// Asks predicates on the evaluator's thread, because they are user code and may block. The result says whether an
/// answer is awaited (`asks`). A predicate whose evaluator is lost ends nothing.
expected<troupe::judgements::ruling> ask_predicates(chief_state& c, expected<troupe::judgements::ruling> found,
                                                    const std::optional<evaluated>& of) {
  while (found && found->asks && !c.evaluator(found->asks->evaluation))
    found = c.judgements.answered(*found->asks, {});
  if (!found || !found->asks)
    return found;
  const auto which = found->asks->evaluation;
  const auto number = c.questions.ask(*found->asks, of);
  // Before it answers, the evaluator may have to finish an export or an evaluation of the previous attempt.
  const bool busy = c.evaluations.at(which).exports() || (!of && !c.evaluations.at(which).idle());
  c.arm(rule_wait(which), busy ? c.options.deadlines.evaluation : c.options.deadlines.hooks);
  c.self->send(c.evaluator(which),
               apply_rule{number, static_cast<int32_t>(found->asks->rule), c.judgements.history(which)});
  return found;
}

void on_rule_applied(chief_state& c, const rule_applied& x) {
  const auto asked = c.questions.take(x.number);
  if (!asked)
    return;
  const auto which = asked->what.evaluation;
  if (!c.questions.asked_of(which))
    c.disarm(rule_wait(which));
  const auto why = x.why.empty() ? std::nullopt : std::optional{x.why};
  const auto found = ask_predicates(c, x.ok ? c.judgements.answered(asked->what, why) : fail(x.cause), asked->of);
  if (found && found->asks)
    return;
  if (found)
    return asked->of ? conclude_evaluation(c, *asked->of, *found) : void();
  if (asked->of)
    c.evaluations.at(which).end();
  fail_after_save(c, found.error());
}

/// If training waits for evaluations, the job ends at the evaluated state. Otherwise it ends at the horizon, which may
/// already be the planned end of the job.
void end_early(chief_state& c) {
  if (c.ending.stops() || c.ending.fails() || c.now != chief_phase::training)
    return;
  c.ending.remark = "ended early: " + c.judgements.why_ended();
  drain(c, c.horizon.until(), job_end::finished);
}

void on_verdict_seen(chief_state& c, const verdict_seen& x) {
  if (!x.ignored.empty() && c.told.warnings.insert(x.ignored).second)
    c.warn(c.horizon.reached(), x.ignored);
  c.judged_elsewhere = x;
  follow_verdict(c);
}

/// Every attempt follows it again: the books with which an attempt begins may be older.
void follow_verdict(chief_state& c) {
  const auto& x = c.judged_elsewhere;
  if (!x || !c.trains() || c.ending.fails() || !c.writer())
    return;
  if (x->has_best && c.judgements.take_best(x->best, x->value)) {
    tell_verdict(c, x->best);
    // Readers of the best checkpoint look there.
    if (const auto newest = c.saves.last_commit(); newest && newest->step > x->best.step)
      tell_verdict(c, *newest);
  }
  if (x->has_end && c.now == chief_phase::training && c.judgements.take_end(x->rule, x->why))
    end_early(c);
}

/// Whether the job ends at that state because of a rule, and not because of a stop or a failure.
bool chief_state::ends_by_rule_at(int64_t step) const {
  return judgements.has_ended() && horizon.end_is_final() && horizon.end() == step;
}

/// Whether the job has finished at that state, at its goal or with its data.
bool chief_state::finishes_at(int64_t step) const {
  return horizon.end_is_final() && horizon.end() == step && !iteration_ends_at(step);
}

void tell_verdict(chief_state& c, checkpoint_id id) {
  // A job that a rule ends has not come to the end of its data: another rule may let it go on with them.
  const bool ends_here = c.ends_by_rule_at(id.step), finishes = c.finishes_at(id.step) && !c.ended_by_rule();
  if (ends_here || finishes)
    c.arm(chief_wait::verdict, c.options.deadlines.save);
  checkpoint_books books;
  c.judgements.enter(books, ends_here);
  if (finishes)
    books.finished = true;
  if (const double factor = c.rates.at(id.step); factor != 1 || c.rates.says(id.step))
    books.rate_factor = factor;  // Also stored if it is 1, because it may override another factor.
  c.verdicts.sent();
  c.self->send(c.writer(), late_properties{c.attempt, id, write_books(books)});
}

void on_late_properties_kept(chief_state& c, const late_properties_kept& x) {
  if (!c.verdicts.kept() || !c.waiting.armed(chief_wait::verdict))
    return;
  c.disarm(chief_wait::verdict);
  c.verdicts.let_go();
  if (c.ends_by_rule_at(x.id.step))
    c.verdicts.end_is_said();
  if (c.finishes_at(x.id.step))
    c.verdicts.finish_is_said(x.id.step);
}

/// Results of this checkpoint that are in event files are not evaluated again. Exporters make what is missing.
void recall_evaluations(chief_state& c, checkpoint_id id) {
  for (size_t i = 0; i < c.evaluations.size(); ++i) {
    const auto& settings = c.evaluations.settings(i);
    auto known = c.judgements.known_results(settings.name, id);
    if (!known || !c.evaluator(i) || !c.evaluations.takes_part(i, id.step))
      continue;
    c.results.metrics[settings.name] = std::move(*known);
    c.evaluations.at(i).recall(id);
    if (settings.exports)
      begin_export(c, i, id, export_moment::regular);
  }
}

/// A state that evaluators were shown has been saved since, and can be the best.
void judge_saved(chief_state& c, size_t which, checkpoint_id id, const evaluation_values& found) {
  if (const auto is_best = c.judgements.consider(c.evaluations.settings(which).name, id, found); is_best && *is_best)
    tell_verdict(c, id);
}

/// Evaluators that evaluated the state before it was saved do not evaluate it again.
void judge_saved(chief_state& c, checkpoint_id id) {
  for (size_t i = 0; i < c.evaluations.size(); ++i) {
    const auto& settings = c.evaluations.settings(i);
    const auto found = c.results.metrics.find(settings.name);
    if (c.evaluations.at(i).last() != id || found == c.results.metrics.end()
        || found->second.at("global_step") != static_cast<double>(id.step))
      continue;
    judge_saved(c, i, id, {found->second, i == 0 ? c.results.arrays : std::map<std::string, tensor>{}});
    if (settings.exports && c.evaluator(i))
      begin_export(c, i, id, export_moment::regular);
  }
}

}  // namespace troupe
