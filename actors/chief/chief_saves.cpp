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
  const bool evaluated = evaluations_are_gates() && step != start_step && (!evaluations.was_offered(id) || evaluations.concern(id));
  if (options.checkpoints && (shown || evaluated))
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

  if (evaluator() && x.id.step != start_step && causes.empty() && !evaluations.was_offered(x.id)) {
    if (const auto superseded = evaluations.offer(x.id))
      self->send(writer(), unlease{*superseded});
    if (!evaluations_are_gates())
      gates.commit_done(x.id.step);
    evaluate_next();
  } else {
    self->send(writer(), unlease{x.id});
    if (!evaluations.concern(x.id))
      gates.commit_done(x.id.step);
  }
  show_status();
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
void chief_state::record_evaluation(const evaluated& x) {
  if (!eval_summaries())
    return;
  for (auto& kept : evaluation_records(x)) {
    kept.number = evaluations.number_record();
    self->send(eval_summaries(), std::move(kept));
  }
}

/// Evaluations are of the job, and not of an attempt: they count their records in one sequence.
void chief_state::on_eval_room(const room& x) {
  if (ends())
    return;
  evaluations.room_until(x.until_number);
  evaluate_next();
}

void chief_state::evaluate_next() {
  const auto id = evaluations.waiting();
  const auto next = evaluations.decide({.now = now_ns(),
                                        .possible = evaluator() && !ending.by_signal,
                                        .at_the_end = id && horizon.end() == id->step && now == phase::draining && !ending.fails(),
                                        .recorded = eval_summaries() != nullptr});
  if (next == troupe::evaluations::next::nothing)
    return;
  if (next == troupe::evaluations::next::need_room) {
    if (!waiting.armed(chief_wait::eval_room))
      arm(chief_wait::eval_room, options.deadlines.save);
    return;
  }
  disarm(chief_wait::eval_room);
  if (next == troupe::evaluations::next::skip) {
    evaluations.drop_waiting();
    self->send(writer(), unlease{*id});
    gates.commit_done(id->step);
    extend();
    return check_end();
  }
  evaluations.begin(now_ns());
  arm(chief_wait::evaluation, options.deadlines.evaluation);
  self->send(evaluator(), evaluate_at{attempt, {id->step, id->iteration}, saves.prefix()});
}

void chief_state::on_evaluated(const evaluated& x) {
  if (ends())
    return;
  const auto ended = evaluations.end();  // A failed evaluation is not repeated.
  if (!ended)
    return;
  const int64_t step = ended->step;
  disarm(chief_wait::evaluation);
  if (!planted(planted_fault::lease_forgotten))
    self->send(writer(), unlease{*ended});
  gates.commit_done(step);
  if (x.ok) {
    metrics = x.metrics;
    arrays = x.arrays;
    publish({.what = job_event::kind::evaluated, .step = step, .metrics = x.metrics, .arrays = x.arrays, .checkpoint = *ended});
    if (step != start_step)  // Without a new step the event file has the point already.
      record_evaluation(x);
  } else if (!evaluations.cancelled()) {
    auto cause = x.cause;
    cause.notes.push_back("while evaluating the checkpoint of step " + to_string(*ended));
    if (options.on_evaluator_failure == failure_policy::fail)
      return fail_after_save(std::move(cause));
    warn(step, to_string(cause));
  }
  show_status();
  evaluate_next();
  extend();
  check_end();
}

/// The evaluator will not finish its evaluation: ends the lease.
void chief_state::lose_evaluation() {
  if (const auto id = evaluations.lose())
    self->send(writer(), unlease{*id});
}

}  // namespace troupe
