// The chief's saves, and the evaluations of what was saved.
#include "actors/chief/chief.hpp"
#include "actors/chief/decisions.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

// -- saves --------------------------------------------------------------------------------------

void chief_state::place_save(int64_t step) {
  saving.insert(step);
  if (evaluator() && options.when == evaluation_mode::waits && step != start_step)
    commit_gates.insert(step);
  if (summaries() && step > reached && causes.empty())
    unbooked.insert(step);
  else
    send_books(step);
}

/// By way of the summary writer, which has every record below once the reports are in, and puts them into the file first:
/// what a commit stands behind is never summarised again.
void chief_state::send_books(int64_t step) {
  unbooked.erase(step);
  snapshot_part books{attempt, step, options.id};
  books.properties["first_step"] = std::to_string(first_step);
  books.properties["finished"] = end_is_final && end_at == step ? "true" : "false";
  self->send(summaries() ? caf::actor_cast<part_sink_actor>(summaries()) : caf::actor_cast<part_sink_actor>(writer()), std::move(books));
}

void chief_state::send_books_up_to(int64_t step) {
  while (!unbooked.empty() && *unbooked.begin() <= step)
    send_books(*unbooked.begin());
}

/// The oldest save whose step was reached is waited for; after a failure, any.
void chief_state::await_saves() {
  if (waiting.armed(wait_save) || saving.empty() || (*saving.begin() > reached && failing == failing::no))
    return;
  overdue = false;
  arm(wait_save, options.deadlines.save, "the commit of step " + std::to_string(*saving.begin()));
}

void chief_state::on_committed(const committed& x) {
  if (x.attempt != attempt || ends())
    return;
  saving.erase(x.step);
  disarm(wait_save);
  await_saves();
  if (x.step <= reached)
    deal_with(x);
  else
    held.emplace(x.step, x);
  extend();
  check_end();
}

/// Facts in step order: a commit is published when the reports below it are in.
void chief_state::publish_held() {
  while (!held.empty() && held.begin()->first <= reached)
    deal_with(held.extract(held.begin()).mapped());
}

void chief_state::deal_with(const committed& x) {
  const bool fresh = committed_at != x.step || x.step != start_step;
  committed_at = std::max(committed_at.value_or(x.step), x.step);
  checkpoint = x.prefix;
  for (const auto& w : x.warnings)
    publish({.what = job_event::kind::warning, .step = x.step, .text = w});
  if (fresh) {
    publish({.what = job_event::kind::saved, .step = x.step, .text = x.prefix});
    if (summaries())
      self->send(summaries(), note{note::checkpoint, x.step, x.prefix});
  }
  if (std::exchange(save_again, false) && now == phase::training)
    mark_here(mark_snapshot);

  if (evaluator() && x.step != start_step && causes.empty()) {
    if (newest_unevaluated && *newest_unevaluated < x.step)
      self->send(writer(), unlease{*newest_unevaluated});
    newest_unevaluated = x.step;
    evaluate_next();
  } else {
    self->send(writer(), unlease{x.step});
  }
  show_status();
}

void chief_state::on_save_failed(const save_failed& x) {
  if (x.attempt != attempt || ends())
    return;
  saving.erase(x.step);
  given_up.insert(x.step);
  commit_gates.erase(x.step);
  disarm(wait_save);
  if (failing == failing::no)
    return fail_now(x.cause);
  causes.add(x.cause);  // The final save after a failure did not work out either.
  await_saves();
  check_end();
}

// -- evaluations --------------------------------------------------------------------------------

/// Two records each: a writer whose disk is slow holds the next evaluation.
void chief_state::record_evaluation(const evaluated& x) {
  if (!eval_summaries())
    return;
  for (auto& kept : evaluation_records(x)) {
    kept.attempt = attempt;
    kept.number = eval_records++;
    self->send(eval_summaries(), std::move(kept));
  }
}

void chief_state::on_eval_room(const room& x) {
  if (x.attempt != attempt || ends())
    return;
  eval_room = std::max(eval_room, x.until_number);
  evaluate_next();
}

void chief_state::evaluate_next() {
  if (evaluating || !newest_unevaluated)
    return;
  const int64_t step = *newest_unevaluated;
  const auto clock_now = self->clock().now();
  std::optional<double> since;
  if (evaluation_began)
    since = std::chrono::duration<double>(clock_now - *evaluation_began).count();
  const bool last = end_at == step && now == phase::draining;
  const bool due = evaluator() && !by_signal && evaluation_due(since, options.throttle_secs, last);
  // Only an evaluation that is to be made waits for its event file.
  if (constexpr int64_t records = 2; due && eval_summaries() && eval_records + records > eval_room) {
    if (!waiting.armed(wait_eval_room))
      arm(wait_eval_room, options.deadlines.save, "the results of the evaluation of step " + std::to_string(evaluated_at.value_or(0)) + " to be written");
    return;
  }
  disarm(wait_eval_room);
  newest_unevaluated.reset();
  if (!due) {
    self->send(writer(), unlease{step});
    commit_gates.erase(step);
    extend();
    return check_end();
  }
  evaluating = step;
  evaluation_began = clock_now;
  arm(wait_evaluation, options.deadlines.evaluation, "the evaluation of step " + std::to_string(step));
  self->send(evaluator(), evaluate_at{attempt, step, checkpoint});
}

void chief_state::on_evaluated(const evaluated& x) {
  if (x.attempt != attempt || !evaluating || ends())
    return;
  const int64_t step = *std::exchange(evaluating, std::nullopt);
  disarm(wait_evaluation);
  self->send(writer(), unlease{step});
  commit_gates.erase(step);
  evaluated_at = step;  // One that failed, where that is allowed, is not made again.
  if (x.ok) {
    metrics = x.metrics;
    publish({.what = job_event::kind::evaluated, .step = step, .metrics = x.metrics});
    if (step != start_step)  // Where nothing was trained the point is there already.
      record_evaluation(x);
  } else if (!cancelled_evaluation) {
    auto cause = x.cause;
    cause.notes.push_back("while evaluating the checkpoint of step " + std::to_string(step));
    if (!options.evaluator_may_fail)
      return fail_after_save(std::move(cause));
    publish({.what = job_event::kind::warning, .step = step, .text = to_string(cause)});
  }
  show_status();
  evaluate_next();
  extend();
  check_end();
}

}  // namespace troupe
