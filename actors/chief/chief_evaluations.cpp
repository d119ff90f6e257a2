// The chief's evaluations, what follows from them, and the exporters that run after them.
#include "actors/chief/chief.hpp"
#include "actors/chief/decisions.hpp"
#include "storage/checkpoints/checkpoint_names.hpp"
#include "storage/files/file_system.hpp"
#include "words/planted.hpp"
#include "words/text.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

/// Whether a new job begins, and evaluates some batches of each evaluation before its first step.
bool chief_state::checks_evaluations() const {
  bool any = false;
  for (size_t i = 0; i < evaluations.size(); ++i)
    any = any || (evaluator(i) && evaluations.settings(i).sanity_batches > 0);
  return any && !origin.came_from && attempt == 1 && ending.causes.empty() && !ending.stops();
}

void chief_state::check_evaluations(checkpoint_id id) {
  for (size_t i = 0; i < evaluations.size(); ++i)
    if (const auto batches = evaluations.settings(i).sanity_batches; evaluator(i) && batches > 0) {
      evaluations.at(i).check(id);
      arm(evaluation_wait(i), options.deadlines.evaluation);
      self->send(evaluator(i), evaluate_at{attempt, {id.step, id.iteration}, saves.prefix(), static_cast<int32_t>(i), batches});
    }
}

void chief_state::on_checked(size_t which, checkpoint_id id, const evaluated& x) {
  release(id);
  if (!x.ok && !evaluations.at(which).cancelled()) {
    auto cause = x.cause;
    const auto& settings = evaluations.settings(which);
    const auto whose = settings.name.empty() ? std::string{} : " for '" + settings.name + "'";
    cause.notes.push_back("while evaluating " + std::to_string(settings.sanity_batches) + " batches" + whose + " before the first step (sanity_batches)");
    if (settings.on_failure == failure_policy::fail)
      return fail_after_save(std::move(cause));
    warn(id.step, to_string(cause));
  }
}

/// Evaluators will be shown the state, which is not saved. Nothing runs past it until it is evaluated.
void chief_state::place_show(int64_t step) {
  std::set<size_t> readers;
  for (size_t i = 0; i < evaluations.size(); ++i)
    if (evaluations.shows(i, step) && evaluator(i))
      readers.insert(i);
  gates.close(gate_kind::shown, step);
  showing.place(step, std::move(readers));
}

/// To evaluators that have nothing else to do from here on; if none is left, the memory that holds the state is free again.
void chief_state::send_shown() {
  show_state wish{attempt, *showing.step(), {}, {}};
  for (const auto& m : nodes.members())
    if (m.what == role::replica && m.handle && !groups.has_left(m.group))
      wish.replicas.push_back({m.id});
  for (size_t i = 0; i < evaluations.size(); ++i)
    if (evaluations.at(i).shows() && evaluator(i))
      wish.readers.push_back({{}, caf::actor_cast<state_owner_actor>(evaluator(i))});
  self->send(writer(), std::move(wish));
}

void chief_state::on_state_shown(const state_shown& x) {
  if (!ending.fails())
    showing.arrived(x.step);
}

/// Whether a checkpoint of a state up to `step` may still come to be evaluated.
bool chief_state::commits_come_up_to(int64_t step) const {
  return (saves.any() && saves.oldest() <= step) || saves.any_held() || listening.hear_any_commit();
}

/// Results come in the order of states. Evaluators get the state once it is reached and all of them are done with checkpoints up to there, unless
/// they have evaluated the one of this state; they are asked once they have it, as far as there is room for their results.
bool chief_state::evaluate_shown() {
  if (!showing.step() || horizon.reached() < *showing.step() || !trains() || ending.fails())
    return false;
  bool news = false;
  const checkpoint_id state{*showing.step(), options.iteration};
  for (size_t i = 0; i < evaluations.size(); ++i) {
    auto& schedule = evaluations.at(i);
    const bool possible = evaluator(i) && ending.cause() != end_cause::signal && (schedule.last() != state || schedule.shows());
    if (showing.waits_for(i) && possible && schedule.idle() && !commits_come_up_to(state.step)) {
      schedule.show(state);
      arm(evaluation_wait(i), options.deadlines.evaluation);
      news = true;
    } else if (schedule.shows() && !possible && !schedule.is_asked()) {
      schedule.end();
      disarm(evaluation_wait(i));
      news = true;
    }
    if (!possible || schedule.shows())
      news |= showing.wait_no_more_for(i);
  }
  if (showing.waits())
    return news;
  if (showing.send()) {
    send_shown();
    news = true;
  }
  bool any = false;
  for (size_t i = 0; i < evaluations.size(); ++i) {
    auto& schedule = evaluations.at(i);
    if (showing.has_arrived() && schedule.may_ask(eval_summaries(i) != nullptr)) {
      news = true;
      self->send(evaluator(i), evaluate_at{attempt, {state.step, state.iteration}, "", static_cast<int32_t>(i), -1, true});
    }
    any = any || schedule.shows();
  }
  if (any)
    return news;
  showing.done();
  gates.open(gate_kind::shown, state.step);
  return true;
}

/// Sends two records for each evaluation; the next one waits for credit if the writer's disk is slow.
void chief_state::record_evaluation(size_t which, const evaluated& x) {
  if (!eval_summaries(which))
    return;
  for (auto& kept : evaluation_records(x)) {
    kept.number = evaluations.at(which).number_record();
    self->send(eval_summaries(which), std::move(kept));
  }
}

/// Evaluations are of the job, and not of an attempt: they count their records in one sequence.
void chief_state::on_record_credit(const record_credit& x) {
  if (const auto* writer = nodes.find(x.from); writer && writer->handle && writer->what == role::eval_summary_writer)
    evaluations.at(nodes.place_of(x.from)).room_until(x.until_number);
}

bool chief_state::evaluate_checkpoints() {
  bool any = false;
  for (size_t i = 0; i < evaluations.size() && !ends(); ++i)
    any |= evaluate_next(i);
  return any;
}

bool chief_state::evaluate_next(size_t which) {
  auto& schedule = evaluations.at(which);
  const auto id = schedule.waiting();
  const auto next = schedule.decide({.now = now_ns(),
                                     .possible = evaluator(which) && ending.cause() != end_cause::signal,
                                     .at_the_end = id && horizon.end() == id->step && now == phase::draining && !ending.fails(),
                                     .recorded = eval_summaries(which) != nullptr});
  if (next == evaluation_schedule::next::nothing)
    return false;
  if (next == evaluation_schedule::next::need_room) {
    if (!waiting.armed(room_wait(which)))
      arm(room_wait(which), options.deadlines.save);
    return false;
  }
  disarm(room_wait(which));
  if (next == evaluation_schedule::next::skip) {
    schedule.drop_waiting();
    release(*id);
    return true;
  }
  schedule.begin(now_ns());
  arm(evaluation_wait(which), options.deadlines.evaluation);
  self->send(evaluator(which), evaluate_at{attempt, {id->step, id->iteration}, prefix_of(*id), static_cast<int32_t>(which)});
  return true;
}

/// The newest commit may be another one: an attempt can begin at an earlier one.
std::string chief_state::prefix_of(checkpoint_id id) const {
  return join_path(parent_of(saves.prefix()), checkpoint_name(id));
}

void chief_state::on_evaluated(const evaluated& x) {
  const auto which = static_cast<size_t>(x.evaluation);
  if (which >= evaluations.size() || questions.hold_result_of(which))
    return;
  const auto& schedule = evaluations.at(which);
  const auto id = schedule.running();
  if (!id)
    return;
  disarm(evaluation_wait(which));
  if (!x.ok || schedule.checks() || (schedule.shows() && ending.fails()))
    return conclude_evaluation(x, {});
  auto found = judgements.judge(evaluations.settings(which).name, *id, {x.metrics, x.arrays}, !schedule.shows());
  if (found && found->is_best)
    tell_verdict(*id);  // Before the lease ends: retention keeps it from now on.
  if (const auto newest = saves.last_commit(); found && found->is_best && newest && newest->step > id->step)
    tell_verdict(*newest);  // Whoever asks for the best reads it there.
  const auto ruling = ask_predicates(found ? expected<troupe::judgements::ruling>{*found} : fail(found.error()), x);
  if (ruling && !ruling->asks)
    return conclude_evaluation(x, *ruling);
  if (ruling)
    return;  // The evaluation is under way until the predicate has answered.
  evaluations.at(which).end();
  fail_after_save(ruling.error());
}

/// Whether the running evaluation is of a checkpoint, or of a shown state that is saved by now.
bool chief_state::is_saved(size_t which) const {
  const auto& schedule = evaluations.at(which);
  return !schedule.shows() || evaluations.was_offered(*schedule.running());
}

void chief_state::conclude_evaluation(const evaluated& x, const troupe::judgements::ruling& ruling) {
  const auto which = static_cast<size_t>(x.evaluation);
  auto& schedule = evaluations.at(which);
  const bool checked = schedule.checks(), shown = schedule.shows(), saved = is_saved(which);
  const auto ended = schedule.end();  // A failed evaluation is not repeated.
  if (checked)
    return on_checked(which, *ended, x);
  if (shown && ending.fails())
    return;  // The next attempt makes the state again.
  const int64_t step = ended->step;
  const auto& settings = evaluations.settings(which);
  if (x.ok && shown && saved)
    judge_saved(which, *ended, {x.metrics, x.arrays});
  if (x.ok) {
    results.metrics[settings.name] = x.metrics;
    if (settings.exports && saved)
      begin_export(which, *ended, false);
  }
  if (planted(planted_fault::lease_forgotten))
    gates.open(gate_kind::commit, step);
  else if (saved)
    release(*ended);
  if (x.ok) {
    if (which == 0)
      results.arrays = x.arrays;
    publish({.what = job_event::kind::evaluated, .step = step, .metrics = x.metrics, .arrays = x.arrays,
             .checkpoint = saved ? ended : std::nullopt, .evaluation = settings.name});
    record_evaluation(which, x);
  } else if (!schedule.cancelled()) {
    auto cause = x.cause;
    cause.notes.push_back((shown ? "while evaluating the state of step " : "while evaluating the checkpoint of step ") + to_string(*ended)
                          + (settings.name.empty() ? "" : " for '" + settings.name + "'"));
    if (settings.on_failure == failure_policy::fail && !(ending.cause() == end_cause::not_finite && cause.category == errc::nan_loss))
      return fail_after_save(std::move(cause));
    warn(step, to_string(cause));
  }
  if (ruling.ends)
    end_early();  // Before anything is granted.
}

/// Those that this evaluation has found of a checkpoint; the step alone where they are not known any more.
std::map<std::string, double> chief_state::metrics_of(size_t which, checkpoint_id id) const {
  const auto& name = evaluations.settings(which).name;
  if (const auto last = results.metrics.find(name); last != results.metrics.end() && evaluations.at(which).last() == id)
    return last->second;
  return judgements.results_of(name, id);
}

void chief_state::begin_export(size_t which, checkpoint_id id, bool is_final) {
  evaluations.at(which).begin_export(id);
  arm(evaluation_wait(which), options.deadlines.evaluation);
  self->send(evaluator(which), export_at{attempt, id, prefix_of(id), static_cast<int32_t>(which), metrics_of(which, id), is_final, origin.came_from == id});
}

/// Whether exporters of the end have something to do: the job has reached its goal, or a rule has ended it.
bool chief_state::exports_at_end() const {
  bool any = false;
  for (size_t i = 0; i < evaluations.size(); ++i)
    any = any || (evaluations.settings(i).exports_at_end && evaluator(i) && saves.last_commit() && evaluations.at(i).last() == saves.last_commit());
  return any && horizon.end_is_final() && (judgements.has_ended() || judgements.ended_before() || (goal() && *horizon.end() >= *goal()));
}

/// The checkpoint is not leased any more, but the newest is never deleted, and the best one is exempt.
void chief_state::export_last() {
  ending.goes_to(end_state::exported);
  const auto id = judgements.uses_best() ? *judgements.best() : *saves.last_commit();
  for (size_t i = 0; i < evaluations.size(); ++i)
    if (evaluations.settings(i).exports_at_end && evaluator(i) && evaluations.at(i).last() == saves.last_commit())
      begin_export(i, id, true);
}

void chief_state::on_exported(const exported& x) {
  const auto which = static_cast<size_t>(x.evaluation);
  if (which >= evaluations.size())
    return;
  const auto done = evaluations.at(which).end_export();
  if (!done)
    return;
  disarm(evaluation_wait(which));
  release(*done);
  const auto& settings = evaluations.settings(which);
  if (x.ok) {
    auto& paths = results.exports[settings.name];
    paths.resize(x.paths.size());
    for (size_t i = 0; i < paths.size(); ++i)
      if (!x.paths[i].empty() || ending.state() < end_state::exported)
        paths[i] = x.paths[i];
  } else {
    auto cause = x.cause;
    cause.notes.push_back("while exporting the checkpoint of step " + to_string(*done) + (settings.name.empty() ? "" : " for '" + settings.name + "'"));
    if (settings.on_failure == failure_policy::fail)
      return fail_after_save(std::move(cause));
    warn(done->step, to_string(cause));
  }
}

/// The evaluator will not finish its evaluation, nor begin another.
void chief_state::lose_evaluator(size_t which) {
  disarm(evaluation_wait(which));
  disarm(room_wait(which));
  disarm(rule_wait(which));
  questions.drop(which);
  options.board->evaluating(static_cast<int32_t>(which), std::nullopt, 0);
  const bool shown = evaluations.at(which).shows();
  for (const auto id : evaluations.lose(which))
    if (!shown)
      release(id);
  if (shown && showing.is_on_way() && !ends())
    send_shown();  // It takes no part any more.
}

}  // namespace troupe
