// The chief's saves, and the evaluations of checkpoints.
#include "actors/chief/chief.hpp"
#include "actors/chief/decisions.hpp"
#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

// -- saves --------------------------------------------------------------------------------------

void chief_state::place_save(int64_t step) {
  const checkpoint_id id{step, options.iteration};
  const bool shown = gates.holds().saved && saved_told != id;
  const bool evaluated = evaluations_are_gates() && step != start_step && (!evaluations.was_offered(id) || evaluations.hold(id, gates.holds().evaluated));
  const bool checked = step == start_step && checks_evaluations();
  if (options.checkpoints && (shown || evaluated || checked))
    gates.await_commit(step);
  const bool books_wait = books_can_wait() && step > horizon.reached();
  saves.place(step, books_wait);
  if (!books_wait)
    send_books(step);
}

/// Sends the books through the summary writer, if there is one. It has every record up to `step` once the reports are in,
/// and writes them before it passes the books on: a committed step is never summarised again.
void chief_state::send_books(int64_t step) {
  snapshot_part books{attempt, step, options.id};
  books.properties["first_step"] = std::to_string(first_step);
  books.properties["finished"] = horizon.end_is_final() && horizon.end() == step ? "true" : "false";
  books.properties.merge(groups.books(step));
  const bool ends_here = ending.early && horizon.end() == step;
  books.properties.merge(judgements.books(ends_here));
  ending.early_kept = ending.early_kept || ends_here;
  self->send(summaries() ? part_sink_actor{summaries()} : part_sink_actor{writer()}, std::move(books));
}

/// Where books follow the summaries of their state, also after a failure: a job that goes on from this save makes no summary
/// again.
bool chief_state::books_can_wait() const {
  return summaries() && outfeed();
}

void chief_state::send_books_up_to(int64_t step) {
  for (const auto placed : saves.take_books_up_to(step))
    send_books(placed);
}

/// Waits for the oldest save once its step is reached; after a failure, for any.
void chief_state::await_saves() {
  if (waiting.armed(chief_wait::commit) || !saves.is_awaited(horizon.reached(), ending.fails()))
    return;
  saves.begin_wait();
  arm(chief_wait::commit, options.deadlines.save);
}

void chief_state::on_committed(const committed& x) {
  if (ends())
    return;
  if (x.attempt != attempt)
    return self->send(writer(), unlease{x.id});  // Its attempt has failed meanwhile; the next one commits or verifies it again.
  saves.committed(x);
  recovery.committed(x.id.step);
  disarm(chief_wait::commit);
  await_saves();
  publish_commits();
  extend();
  check_end();
}

void chief_state::publish_commits() {
  for (;;) {
    const auto next = saves.take_published(horizon.reached());
    if (!next)
      return;
    deal_with(*next, std::exchange(saved_told, next->id) != next->id);
  }
}

/// A commit that is not new was there when the attempt began, and was verified and listed again.
void chief_state::deal_with(const committed& x, bool is_new) {
  for (const auto& w : x.warnings)
    warn(x.id.step, w);
  if (is_new) {
    publish({.what = job_event::kind::saved, .step = x.id.step, .text = x.prefix, .checkpoint = x.id});
    if (summaries())
      self->send(summaries(), note{note::checkpoint, x.id.step, x.prefix});
  }
  if (saves.take_wish() && now == phase::training)
    mark_here(mark_snapshot);

  if (evaluations.any() && x.id.step != start_step && causes.empty() && !evaluations.was_offered(x.id)) {
    for (const auto superseded : evaluations.offer(x.id))
      release(superseded);
    if (!evaluations_are_gates())
      gates.commit_done(x.id.step);
    evaluate_next();
  } else {
    if (is_new && x.id.step == start_step && checks_evaluations())
      check_evaluations(x.id);
    release(x.id);
  }
  show_status();
}

/// Whether a new job begins, and evaluates some batches of each evaluation before its first step.
bool chief_state::checks_evaluations() const {
  bool any = false;
  for (size_t i = 0; i < evaluations.size(); ++i)
    any = any || (evaluator(i) && evaluations.settings(i).sanity_batches > 0);
  return any && !came_from && attempt == 1 && causes.empty() && !ending.stopping;
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
  evaluate_next();
  extend();
  check_end();
}

/// Ends the lease of a checkpoint once no evaluation needs it, and opens its gate once none for which training waits does.
void chief_state::release(checkpoint_id id) {
  if (!evaluations.concern(id))
    self->send(writer(), unlease{id});
  if (!evaluations.hold(id, gates.holds().evaluated))
    gates.commit_done(id.step);
}

void chief_state::on_save_failed(const save_failed& x) {
  if (x.attempt != attempt || ends())
    return;
  saves.failed(x.step);
  gates.commit_done(x.step);
  disarm(chief_wait::commit);
  if (!ending.fails())
    return fail_now(x.cause);
  // The last save after a failure has failed, too; one that lacks a part has failed in consequence.
  causes.add(x.cause, cure::by_category, x.cause.category == errc::aborted ? causes.only_group() : std::nullopt);
  await_saves();
  check_end();
}

// -- evaluations --------------------------------------------------------------------------------

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
void chief_state::on_eval_room(const room& x) {
  const auto* writer = nodes.find(caf::actor_cast<caf::actor_addr>(self->current_sender()));
  if (ends() || !writer)
    return;
  const auto which = nodes.place_of(writer->id);
  evaluations.at(which).room_until(x.until_number);
  evaluate_next(which);
}

void chief_state::evaluate_next() {
  for (size_t i = 0; i < evaluations.size() && !ends(); ++i)
    evaluate_next(i);
}

void chief_state::evaluate_next(size_t which) {
  auto& schedule = evaluations.at(which);
  const auto id = schedule.waiting();
  const auto next = schedule.decide({.now = now_ns(),
                                     .possible = evaluator(which) && !ending.by_signal,
                                     .at_the_end = id && horizon.end() == id->step && now == phase::draining && !ending.fails(),
                                     .recorded = eval_summaries(which) != nullptr});
  if (next == evaluation_schedule::next::nothing)
    return;
  if (next == evaluation_schedule::next::need_room) {
    if (!waiting.armed(room_wait(which)))
      arm(room_wait(which), options.deadlines.save);
    return;
  }
  disarm(room_wait(which));
  if (next == evaluation_schedule::next::skip) {
    schedule.drop_waiting();
    release(*id);
    extend();
    return check_end();
  }
  schedule.begin(now_ns());
  arm(evaluation_wait(which), options.deadlines.evaluation);
  self->send(evaluator(which), evaluate_at{attempt, {id->step, id->iteration}, saves.prefix(), static_cast<int32_t>(which)});
}

void chief_state::on_evaluated(const evaluated& x) {
  const auto which = static_cast<size_t>(x.evaluation);
  if (ends() || which >= evaluations.size())
    return;
  auto& schedule = evaluations.at(which);
  const bool checked = schedule.checks();
  const auto ended = schedule.end();  // A failed evaluation is not repeated.
  if (!ended)
    return;
  if (checked) {
    disarm(evaluation_wait(which));
    return on_checked(which, *ended, x);
  }
  const int64_t step = ended->step;
  const auto& settings = evaluations.settings(which);
  disarm(evaluation_wait(which));
  bool ends_early = false;
  if (x.ok) {
    auto found = judgements.judge(settings.name, *ended, x.metrics);
    if (!found)
      return fail_after_save(std::move(found.error()));
    if (found->is_best)
      tell_verdict(*ended);  // Before the lease ends: retention keeps it from now on.
    ends_early = found->ends && now == phase::training && !ending.stopping;
  }
  if (planted(planted_fault::lease_forgotten))
    gates.commit_done(step);
  else
    release(*ended);
  if (x.ok) {
    metrics[settings.name] = x.metrics;
    publish({.what = job_event::kind::evaluated, .step = step, .metrics = x.metrics, .checkpoint = *ended, .evaluation = settings.name});
    if (step != start_step)  // Without a new step the event file has the point already.
      record_evaluation(which, x);
  } else if (!schedule.cancelled()) {
    auto cause = x.cause;
    cause.notes.push_back("while evaluating the checkpoint of step " + to_string(*ended) + (settings.name.empty() ? "" : " for '" + settings.name + "'"));
    if (settings.on_failure == failure_policy::fail)
      return fail_after_save(std::move(cause));
    warn(step, to_string(cause));
  }
  if (ends_early && now == phase::training)
    end_early();  // Before the gate opens.
  show_status();
  evaluate_next();
  extend();
  check_end();
}

/// The job ends at the horizon: where training waits for evaluations, that is the evaluated state.
void chief_state::end_early() {
  ending.early = true;
  ending.remark = "ended early: " + judgements.why_ended();
  drain(horizon.until(), true);
}

void chief_state::tell_verdict(checkpoint_id id) {
  if (ending.early && horizon.end() == id.step)
    arm(chief_wait::verdict, options.deadlines.save);
  self->send(writer(), verdict{attempt, id, judgements.books(ending.early && horizon.end() == id.step)});
}

void chief_state::on_verdict_kept(const verdict_kept& x) {
  if (x.attempt != attempt || ends() || !waiting.armed(chief_wait::verdict))
    return;
  disarm(chief_wait::verdict);
  ending.early_kept = true;
  check_end();
}

/// The evaluator will not finish its evaluation, nor begin another.
void chief_state::lose_evaluator(size_t which) {
  disarm(evaluation_wait(which));
  disarm(room_wait(which));
  for (const auto id : evaluations.lose(which))
    release(id);
}

}  // namespace troupe
