// The chief's saves.
#include "actors/chief/chief.hpp"
#include "words/book_properties.hpp"
#include "words/text.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

// -- saves --------------------------------------------------------------------------------------

void chief_state::place_save(int64_t step) {
  const checkpoint_id id{step, options.iteration};
  const bool shown = gates.holds().saved && told.saved != id;
  const bool evaluated = evaluations_are_gates() && step != origin.start_step
                         && (!evaluations.was_offered(id) || evaluations.hold(id, gates.holds().evaluated));
  const bool checked = step == origin.start_step && checks_evaluations();
  if (options.checkpoints && (shown || evaluated || checked))
    gates.close(gate_kind::commit, step);
  const bool books_wait = (books_can_wait() || (listening.any() && !ending.fails())) && step > horizon.reached();
  saves.place(step, books_wait);
  if (!books_wait)
    pass_books(step);
}

/// Listeners hear of a save before it can be committed: no snapshot is complete without its books. A checkpoint that is only listed again is
/// no save, and a failing job does not wait for them.
void chief_state::pass_books(int64_t step) {
  if (!listening.any() || !callbacks() || ending.fails() || told.saved == checkpoint_id{step, options.iteration})
    return send_books(step);
  tell_progress();
  fact f;
  f.what = fact::saving;
  f.at = step;
  const auto number = tell(std::move(f));
  listening.hear_saving(number, step);
  gates.hold_fact(number, step);
}

/// The attempt fails: neither books nor commits wait for listeners any more.
void chief_state::stop_listening() {
  for (const auto& [number, step] : listening.take_savings())
    send_books(step);
  for (const auto& [number, commit] : listening.take_commits())
    offer(commit, true);
}

/// Sends the books through the summary writer, if there is one. It has every record up to `step` once the reports are in,
/// and writes them before it passes the books on: a committed step is never summarised again.
void chief_state::send_books(int64_t step) {
  snapshot_part books{attempt, step, options.id};
  books.properties["first_step"] = std::to_string(origin.first_step);
  books.properties["finished"] = horizon.end_is_final() && horizon.end() == step ? "true" : "false";
  books.properties.merge(groups.books(step));
  if (const double factor = rates.at(step); factor != 1)
    books.properties.emplace(rate_factor_property, shortest_text(factor));
  const bool ends_here = ends_by_rule_at(step);
  books.properties.merge(judgements.books(ends_here));
  verdicts.books_name(step, judgements.best());
  if (ends_here && saves.last_commit() != checkpoint_id{step, options.iteration})
    verdicts.end_is_said();  // A checkpoint that is only listed again keeps the books that it has.
  self->send(summaries() ? part_sink_actor{summaries()} : part_sink_actor{writer()}, std::move(books));
}

/// Where books follow the summaries of their state, also after a failure: a job that goes on from this save makes no summary
/// again.
bool chief_state::books_can_wait() const {
  return summaries() && outfeed();
}

bool chief_state::send_books_up_to(int64_t step) {
  const auto waiting_for_it = saves.take_books_up_to(step);
  for (const auto placed : waiting_for_it)
    pass_books(placed);
  return !waiting_for_it.empty();
}

void chief_state::on_committed(const committed& x) {
  saves.committed(x);
  recovery.committed(x.id.step);
  disarm(chief_wait::commit);
}

bool chief_state::publish_commits() {
  bool any = false;
  while (const auto next = saves.take_published(horizon.reached())) {
    deal_with(*next, std::exchange(told.saved, next->id) != next->id);
    any = true;
  }
  return any;
}

/// A commit that is not new was there when the attempt began, and was verified and listed again.
void chief_state::deal_with(const committed& x, bool is_new) {
  for (const auto& w : x.warnings)
    warn(x.id.step, w);
  uint64_t number = 0;
  if (is_new) {
    number = publish({.what = job_event::kind::saved, .step = x.id.step, .text = x.prefix, .checkpoint = x.id});
    if (summaries())
      self->send(summaries(), note{note::checkpoint, x.id.step, x.prefix});
  }
  if (verdicts.is_outdated(x.id.step, judgements.best()))
    tell_verdict(x.id);
  if (rates.take_correction(x.id))
    keep_rates(x.id);
  if (saves.take_wish() && now == phase::training)
    mark_here(mark_snapshot);
  if (listening.any() && number > 0 && !ending.fails() && !ends())
    listening.hear_commit(number, x);
  else
    offer(x, is_new);
}

/// Its evaluation may begin. Without one, its lease ends and its gate opens.
void chief_state::offer(const committed& x, bool is_new) {
  if (evaluations.any() && x.id.step != origin.start_step && ending.causes.empty() && !evaluations.was_offered(x.id)) {
    for (const auto superseded : evaluations.offer(x.id))
      release(superseded);
    judge_saved(x.id);
    if (!evaluations_are_gates())
      gates.open(gate_kind::commit, x.id.step);
    if (!evaluations.concern(x.id))
      release(x.id);
  } else {
    const bool checked = is_new && x.id.step == origin.start_step && checks_evaluations();
    if (checked)
      check_evaluations(x.id);
    if (!checked || !evaluations.concern(x.id))
      self->send(writer(), unlease{x.id});  // Leases are counted: one that an evaluation has on it from before stays.
    if (!evaluations.hold(x.id, gates.holds().evaluated))
      gates.open(gate_kind::commit, x.id.step);
  }
}

/// Ends the lease of a checkpoint once no evaluation needs it, and opens its gate once none for which training waits does.
void chief_state::release(checkpoint_id id) {
  if (!evaluations.concern(id))
    self->send(writer(), unlease{id});
  if (!evaluations.hold(id, gates.holds().evaluated))
    gates.open(gate_kind::commit, id.step);
}

void chief_state::on_save_failed(const save_failed& x) {
  saves.failed(x.step);
  gates.open(gate_kind::commit, x.step);
  disarm(chief_wait::commit);
  if (!ending.fails())
    return fail_now(x.cause);
  // The last save after a failure has failed, too; one that lacks a part has failed in consequence.
  ending.causes.add(x.cause, cure::by_category, x.cause.category == errc::aborted ? ending.causes.only_group() : std::nullopt);
}

}  // namespace troupe
