// The chief after a failure.
#include "actors/chief/chief.hpp"
#include "actors/chief/decisions.hpp"
#include "actors/exit_reason.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

// -- failures -----------------------------------------------------------------------------------

/// Responds by the table of failures.hpp.
void chief_state::respond(role who, trouble what, error cause, size_t which) {
  switch (response_to(who, what)) {
    case response::save_and_fail: return fail_after_save(std::move(cause));
    case response::replace_and_fail: return replace_writer(std::move(cause));
    case response::settle_and_fail:
    case response::recover_or_fail: return fail_now(std::move(cause));
    case response::by_policy:
      return evaluations.settings(which).on_failure == failure_policy::go_on ? go_on_without_evaluator(which, cause) : fail_after_save(std::move(cause));
  }
}

void chief_state::on_failure(const failure& x) {
  const auto* who = nodes.find(x.who);
  if (!who || (who->what == role::checkpoint_writer && x.attempt != attempt))
    return;  // Of nobody here, or of an attempt that has ended.
  if (!ends())
    return respond(who->what, trouble::throws, x.what, nodes.place_of(x.who));
  if (who->what == role::callbacks || (row_of(who->what).is_log() && waiting.armed(chief_wait::logs)))
    ending.causes.add(x.what);  // The last call of a hook or the last write of an event file failed: the job ends with that error.
}

/// Training goes on without that evaluation.
void chief_state::go_on_without_evaluator(size_t which, const error& cause) {
  if (const auto id = nodes.nth(role::evaluator, which)->id; evaluator(which)) {  // One that hangs ends when it handles messages again.
    options.nodes->end(id);
    nodes.ended(id);
  }
  lose_evaluator(which);
  warn(horizon.reached(), to_string(cause));
  if (!evaluations_are_gates())
    gates.evaluations_lost(saves.last_commit() ? std::optional{saves.last_commit()->step} : std::nullopt);
}

/// The replicas report the same cause at its step, after all earlier steps. The chief waits for that report, unless no
/// replica can reach the step.
void chief_state::on_input_failed(const input_failed& x) {
  if (ending.state() != end_state::open && x.cause.category == errc::cancelled)
    return;
  if (ending.failing() == failing::settling)
    return x.cause.category == errc::cancelled ? void() : ending.causes.add(x.cause);  // The job itself cancelled the reads.
  if (!trains() || x.step <= horizon.reached())
    return fail_now(x.cause);
  if (ending.state() >= end_state::ended)
    return;  // Nobody reads beyond the end.
  if (ending.announced && *ending.announced->step <= x.step)
    return;
  ending.announced = x.cause;
  ending.announced->step = x.step;
  arm(chief_wait::news, options.deadlines.stop);
}

void chief_state::on_input_warned(const input_warned& x) {
  if (!trains())
    told.later.push_back(x.text);
  else if (told.warnings.insert(x.text).second)  // An infeed that is started anew warns anew.
    warn(horizon.reached(), x.text);
}

void chief_state::on_down(const caf::down_msg& x) {
  const auto* found = nodes.find(x.source);
  if (!found)
    return;
  const member who = *found;
  const auto place = nodes.place_of(who.id);
  nodes.ended(who.id);
  ending.halting.erase(who.id);
  if (row_of(who.what).is_halted && waiting.armed(chief_wait::back_off))
    return;
  error cause{category_of(x.reason), who.name + " ended: " + describe(x.reason), {}, who.name, horizon.reached()};
  if (ends()) {
    if (is_heard_at_the_end(who.what, x.reason))
      ending.causes.add(std::move(cause));
    if (who.what == role::callbacks && now == phase::ending)
      send_home();
    return;
  }
  if (row_of(who.what).in_group && groups.has_left(who.group))
    return;  // Nobody waits for it.
  switch (who.what) {
    case role::evaluator:
      lose_evaluator(place);
      break;
    case role::callbacks:
      disarm(chief_wait::hooks);
      break;
    case role::summary_writer:
      saves.books_lost();
      if (ending.fails())
        send_books_up_to(horizon.until());
      break;
    case role::outfeed:
      if (ending.fails())
        send_books_up_to(horizon.until());
      tell_all<role::replica>(connect_reports{self});
      fail_after_save(std::move(cause));
      return flushing() ? settle_saves() : void();
    case role::infeed:
    case role::replica:
      self->send(writer(), gone{attempt, who.id});
      [[fallthrough]];
    case role::reducer:
      ending.causes.add(std::move(cause), x.reason == caf::exit_reason::kill ? cure::by_chance : cure::by_category,
                 who.what == role::infeed ? std::nullopt : std::optional{who.group});
      return flush_then_settle();
    default:
      break;
  }
  respond(who.what, trouble::dies, std::move(cause), place);
}

/// No later step can be made, so that no later state can be saved. Reports that the outfeed holds may name the cause; they
/// are flushed before any decision.
void chief_state::flush_then_settle() {
  if (ending.failing() == failing::settling || flushing())
    return;
  waiting.thaw();  // Also in a pause: the deadlines of a failing attempt run.
  options.nodes->cancel_steps();
  if (!outfeed())
    return settle_saves();
  flush_outfeed();
}

void chief_state::flush_outfeed() {
  ++ending.flushes;
  self->send(outfeed(), flush{number_of_flush()});
  arm(chief_wait::flush, options.deadlines.stop);
}

/// No answer of another attempt has it.
uint64_t chief_state::number_of_flush() const {
  return (static_cast<uint64_t>(attempt) << 32) + ending.flushes;
}

void chief_state::on_flushed(const flushed& x) {
  if (x.number != number_of_flush() || !flushing())
    return;
  disarm(chief_wait::flush);
  flushed_or_not();
}

/// The outfeed has answered, or will not.
void chief_state::flushed_or_not() {
  if (!saves.any() && ending.fails())
    return conclude();
  settle_saves();
}

void chief_state::fail_now(error cause) {
  ending.causes.add(std::move(cause));
  if (!ends() && !flushing())
    settle_saves();
}

/// Halts all nodes that send parts, each of which then sends `gone`, so that the checkpoint writer can decide for each
/// snapshot whether it can still be complete. Only those are waited for, and, where a new attempt may follow, that no node
/// is in a step or a read.
void chief_state::settle_saves() {
  if (!ending.fails_by(failing::settling))
    return;
  stop_listening();
  waiting.thaw();
  const bool trained = trains();
  options.nodes->cancel_steps();
  for (const auto w : {chief_wait::start, chief_wait::reports, chief_wait::commit, chief_wait::hooks, chief_wait::next_save, chief_wait::flush,
                       chief_wait::news, chief_wait::cut, chief_wait::answers})
    disarm(w);
  if (!may_recover()) {
    for (size_t i = 0; i < evaluations.size(); ++i)
      disarm(evaluation_wait(i));
    evaluations.drop_waiting();
  }
  // Books follow the summaries of their state through the summary writer, which has those of all reported states.
  const auto kept = outfeed() ? horizon.reached() : horizon.until();
  send_books_up_to(kept);
  saves.cancel_above(kept);
  if (!writer() || !trained)
    saves.cancel_all();
  if (!saves.any() && !may_recover())
    return conclude();
  now = phase::draining;
  horizon.end_at(horizon.reached(), horizon.end_is_final() && horizon.end() == horizon.reached());
  if (saves.any())
    self->send(writer(), abandon{attempt, saves.newest()});
  halt_all();
  if (saves.any())
    self->send(writer(), settle{attempt, saves.steps()});
}

/// The failed attempt has nothing more to say: another one follows, or the job ends.
void chief_state::conclude() {
  if (ending.failing() != failing::settling || ending.causes.aborted() || (options.checkpoints && !writer()))
    return end();
  auto cause = ending.causes.root();
  const auto verdict = recovery.decide({cause, ending.causes.curable(), ending.causes.has_kill(), horizon.reached(), options.checkpoints, ending.stops()});
  if (verdict.recovers)
    return recover(std::move(cause), verdict.delay);
  if (const auto group = group_to_drop()) {
    groups.drop(*group, cause);
    return recover(std::move(cause), {});
  }
  if (!verdict.why_not.empty())
    ending.causes.note(verdict.why_not);
  end();
}

void chief_state::give_up_saves() {
  auto cause = waited_for(chief_wait::commit, options.name);
  if (ending.fails() && saves.books_wait()) {  // Reports have stopped, and records are not written; but the model is saved.
    send_books_up_to(horizon.until());
    return arm(chief_wait::commit, options.deadlines.stop);
  }
  if (writer() && saves.may_inquire()) {  // Asks once which part is missing.
    self->send(writer(), name_missing{attempt, saves.oldest()});
    return arm(chief_wait::commit, options.deadlines.stop);
  }
  // The writer no longer answers, so that no commit can be awaited.
  saves.cancel_all();
  fail_now(std::move(cause));
}

void chief_state::fail_after_save(error cause) {
  ending.causes.add(std::move(cause), cure::none);
  if (ends())
    return;
  if (ending.fails())
    return now == phase::recovering ? end() : void();
  if (!trains())
    return end();
  ending.fails_by(failing::saving);
  stop_listening();
  waiting.thaw();
  gates.open_all();
  evaluations.drop_waiting();
  if (!options.checkpoints || !writer())
    return end();
  for (const auto w : {chief_wait::reports, chief_wait::answers, chief_wait::hooks, chief_wait::next_save})
    disarm(w);
  for (size_t i = 0; i < evaluations.size(); ++i)
    disarm(evaluation_wait(i));
  if (!books_can_wait())
    send_books_up_to(horizon.until());
  drain(horizon.until(), false);
}

void chief_state::replace_writer(error cause) {
  if (ending.fails() || !trains()) {
    ending.causes.add(std::move(cause), cure::none);
    return end();  // No writer can save any more.
  }
  const auto id = nodes.id_of(role::checkpoint_writer);
  restart(id);
  self->send(writer(), stand_in{attempt});  // Sent before any part.
  for (const auto& [group, how] : groups.left())
    self->send(writer(), departed_of(group));
  for (const auto& m : nodes.members())  // The old writer was told, or may not have been.
    if (!m.handle && (m.what == role::infeed || m.what == role::replica))
      self->send(writer(), gone{attempt, m.id});
  options.nodes->connect(id);
  saves.cancel_all();  // Their parts were lost with the old writer; the last save replaces them.
  disarm(chief_wait::commit);
  fail_after_save(std::move(cause));
}

}  // namespace troupe
