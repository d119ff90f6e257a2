// The chief's saves: marks, books, commits, and what follows from a commit.
#include "actors/chief/chief_subjects.hpp"
#include "words/checkpoint_books.hpp"
#include "words/text.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

static void pass_books(chief_state& c, int64_t step);
static void on_commit(chief_state& c, const committed& x, bool is_new);

// -- saves --------------------------------------------------------------------------------------

/// The state in which the job began is evaluated only if it is new and the job asks for that.
static bool is_passed_over(const chief_state& c, int64_t step) {
  return step == c.origin.start_step && (!c.options.evaluates_first || c.origin.came_from);
}

void place_save(chief_state& c, int64_t step) {
  const checkpoint_id id{step, c.options.stored.iteration.number};
  const bool shown = c.gates.holds().saved && c.told.saved != id;
  const bool evaluated = c.evaluations_are_gates() && !is_passed_over(c, step)
                         && (!c.evaluations.was_offered(id) || c.evaluations.hold(id, c.gates.holds().evaluated));
  const bool checked = step == c.origin.start_step && checks_evaluations(c);
  if (c.options.checkpoints && (shown || evaluated || checked))
    c.gates.close(gate_kind::commit, step);
  const bool books_wait = ((books_can_wait(c) || (c.facts.listening.any() && !c.ending.fails()))
                           && step > c.horizon.reached())
                          || lacks_values(c, step);
  c.saves.place(step, books_wait);
  if (!books_wait)
    pass_books(c, step);
}

/// Tells listeners of a save before it can be committed: no snapshot is complete without its books. Not for a
/// checkpoint that is only listed again, which is not a save, nor in a failing job, which does not wait for listeners.
static void pass_books(chief_state& c, int64_t step) {
  if (!c.facts.listening.any() || !c.callbacks() || c.ending.fails()
      || c.told.saved == checkpoint_id{step, c.options.stored.iteration.number})
    return send_books(c, step);
  c.tell_progress();
  fact f;
  f.what = fact::saving;
  f.at = step;
  const auto number = c.tell(std::move(f));
  c.facts.listening.hear_saving(number, step);
  c.gates.hold_fact(number, step);
}

/// The attempt fails: neither books nor commits wait for listeners any longer.
void stop_listening(chief_state& c) {
  for (const auto& [number, step] : c.facts.listening.take_savings())
    send_books(c, step);
  for (const auto& [number, commit] : c.facts.listening.take_commits())
    queue_evaluations(c, commit, true);
}

/// Sends the books through the summary writer, if there is one. That has every record up to `step` once the reports are
/// in, and writes these records before it passes the books on, so that a job resumed from this step writes no summary
/// twice.
void send_books(chief_state& c, int64_t step) {
  const bool ends_here = c.ends_by_rule_at(step);
  checkpoint_books books{.first_step = c.origin.first_step, .finished = c.finishes_at(step)};
  if (const double factor = c.rates.at(step); factor != 1)
    books.rate_factor = factor;
  books.loop = c.loops.stored_at(step, c.origin.first_step);
  c.judgements.enter(books, ends_here);
  c.verdicts.books_name(step, c.judgements.best());
  if (c.saves.last_commit() != checkpoint_id{step, c.options.stored.iteration.number}) {
    if (ends_here)
      c.verdicts.end_is_said();  // A checkpoint that is only listed again keeps the books that it has.
    if (*books.finished)
      c.verdicts.books_say_finish(step);
  }
  snapshot_part part{c.attempt, step, c.options.id};
  part.properties = write_books(books);
  if (!enter_search_books(c, step, part))
    return;
  c.self->send(c.summaries() ? part_sink_actor{c.summaries()} : part_sink_actor{c.writer()}, std::move(part));
}

/// Whether books follow the summaries and the host calls of their state, also after a failure: then a job that goes on
/// from this save repeats no summary, and leaves out no call.
bool books_can_wait(const chief_state& c) {
  return c.outfeed() && (c.summaries() || has_host_calls(c.plan(), c.options.id));
}

bool send_books_up_to(chief_state& c, int64_t step) {
  const auto first = c.saves.first_waiting_books([&c](int64_t placed) { return lacks_values(c, placed); });
  const auto waiting_for_it = c.saves.take_books_up_to(first ? std::min(step, *first - 1) : step);
  for (const auto placed : waiting_for_it)
    pass_books(c, placed);
  return !waiting_for_it.empty();
}

/// Whether nobody has told values of a state yet that are lost if an attempt begins there: those that its books are
/// about, except where this attempt began, and those that a session has fetched.
bool lacks_values(const chief_state& c, int64_t step) {
  if (c.session.awaits_values_of(step) && (!c.ending.fails() || c.may_recover()))
    return true;
  if (step == c.horizon.began_at() || c.told_of_groups.has(step))
    return false;
  const auto& all = c.groups.policies();
  return std::any_of(all.begin(), all.end(),
                     [&c](const plan_group& g) { return !g.told_at_saves.empty() && !c.groups.has_left(g.id); });
}

void on_committed(chief_state& c, const committed& x) {
  c.saves.committed(x);
  c.next.recovery.committed(x.id.step);
  c.disarm(chief_wait::commit);
}

bool publish_commits(chief_state& c) {
  bool any = false;
  while (const auto next = c.saves.take_published(c.horizon.reached())) {
    on_commit(c, *next, std::exchange(c.told.saved, next->id) != next->id);
    any = true;
  }
  return any;
}

/// A commit that is not new existed when the attempt began, and was verified and listed again.
static void on_commit(chief_state& c, const committed& x, bool is_new) {
  for (const auto& w : x.warnings)
    c.warn(x.id.step, w);
  uint64_t number = 0;
  if (is_new) {
    number = c.publish({.what = job_event::kind::saved, .step = x.id.step, .text = x.prefix, .checkpoint = x.id});
    if (c.summaries())
      c.self->send(c.summaries(), note{note::checkpoint, x.id.step, x.prefix});
  }
  c.told_of_groups.committed(x.id.step);
  if (c.searching.on())
    follow_search(c, c.searching.committed(x.id.step));
  if (c.verdicts.is_outdated(x.id.step, c.judgements.best()))
    tell_verdict(c, x.id);
  if (c.rates.take_correction(x.id))
    keep_rates(c, x.id);
  if (c.saves.take_wish() && c.now == chief_phase::training)
    mark_here(c, mark_snapshot);
  if (c.facts.listening.any() && number > 0 && !c.ending.fails() && !c.ends())
    c.facts.listening.hear_commit(number, x);
  else
    queue_evaluations(c, x, is_new);
}

/// The evaluation of the checkpoint may begin. If there is none, its lease ends and its gate opens.
void queue_evaluations(chief_state& c, const committed& x, bool is_new) {
  if (c.evaluations.any() && !is_passed_over(c, x.id.step) && c.ending.causes.empty()
      && !c.evaluations.was_offered(x.id)) {
    for (const auto superseded : c.evaluations.offer(x.id))
      release(c, superseded);
    judge_saved(c, x.id);
    if (!c.evaluations_are_gates())
      c.gates.open(gate_kind::commit, x.id.step);
    if (!c.evaluations.concern(x.id))
      release(c, x.id);
  } else {
    const bool checked = is_new && x.id.step == c.origin.start_step && checks_evaluations(c);
    if (checked)
      check_evaluations(c, x.id);
    if (!checked || !c.evaluations.concern(x.id))
      c.self->send(c.writer(), unlease{x.id});  // Leases are counted: an evaluation's earlier lease on it remains.
    if (!c.evaluations.hold(x.id, c.gates.holds().evaluated))
      c.gates.open(gate_kind::commit, x.id.step);
  }
}

/// Ends the lease of a checkpoint once no evaluation needs it. Opens its gate once training waits for none of its
/// evaluations.
void release(chief_state& c, checkpoint_id id) {
  if (!c.evaluations.concern(id))
    c.self->send(c.writer(), unlease{id});
  if (!c.evaluations.hold(id, c.gates.holds().evaluated))
    c.gates.open(gate_kind::commit, id.step);
}

void on_save_failed(chief_state& c, const save_failed& x) {
  if (c.ending.fails() && !c.saves.is_placed(x.step))
    // The failed attempt did not reach that state: parts of it arrived after the saves beyond the failed step were
    // given up.
    return;
  c.saves.failed(x.step);
  c.gates.open(gate_kind::commit, x.step);
  c.disarm(chief_wait::commit);
  if (!c.ending.fails())
    return fail_now(c, x.cause);
  // The last save after a failure has failed, too. If it lacks a part, that is a consequence of the first failure.
  c.ending.causes.add(x.cause, cure::by_category,
                      x.cause.category == errc::aborted ? c.ending.causes.only_group() : std::nullopt);
}

}  // namespace troupe
