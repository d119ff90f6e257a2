// The chief after a failure.
#include "actors/chief/chief_subjects.hpp"
#include "actors/chief/decisions.hpp"
#include "actors/exit_reason.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

static void go_on_without_evaluator(chief_state& c, size_t which, const error& cause);
static void flush_then_settle(chief_state& c);
static uint64_t number_of_flush(const chief_state& c);
static void settle_saves(chief_state& c);
static void replace_writer(chief_state& c, error cause);
static void save_last(chief_state& c);
static void on_agent_down(chief_state& c, const std::string& agent, const caf::error& reason);

// -- failures -----------------------------------------------------------------------------------

/// Responds as the table of failures.hpp says.
void respond(chief_state& c, role who, trouble what, error cause, size_t which) {
  switch (response_to(who, what)) {
    case response::save_and_fail: return fail_after_save(c, std::move(cause));
    case response::replace_and_fail: return replace_writer(c, std::move(cause));
    case response::settle_and_fail:
    case response::recover_or_fail: return fail_now(c, std::move(cause));
    case response::by_policy:
      return c.evaluations.settings(which).on_failure == failure_policy::go_on
                 ? go_on_without_evaluator(c, which, cause)
                 : fail_after_save(c, std::move(cause));
  }
}

void on_failure(chief_state& c, const failure& x) {
  const auto* who = c.nodes.find(x.who);
  if (!who || (who->what == role::checkpoint_writer && x.attempt != c.attempt))
    return;  // From an unknown node, or of an attempt that has ended.
  if (!c.ends())
    return respond(c, who->what, trouble::throws, x.what, c.nodes.place_of(x.who));
  if (who->what == role::callbacks || (row_of(who->what).is_log() && c.waiting.armed(chief_wait::logs)))
    // The last call of a hook or the last write of an event file failed: the job ends with that error.
    c.ending.causes.add(x.what);
}

/// Training continues without evaluation `which`.
static void go_on_without_evaluator(chief_state& c, size_t which, const error& cause) {
  // An evaluator that hangs ends when it handles messages again.
  if (const auto id = c.nodes.nth(role::evaluator, which)->id; c.evaluator(which)) {
    c.agents.end({id});
    c.nodes.ended(id);
  }
  lose_evaluator(c, which);
  c.warn(c.horizon.reached(), to_text(cause));
  if (!c.evaluations_are_gates())
    c.gates.evaluations_lost(c.saves.last_commit() ? std::optional{c.saves.last_commit()->step} : std::nullopt);
}

/// The replicas report the same cause at its step, after all earlier steps. The chief waits for that report, unless no
/// replica can reach the step.
void on_input_failed(chief_state& c, const input_failed& x) {
  if (c.ending.state() != end_state::open && x.cause.category == errc::cancelled)
    return;
  if (c.ending.failing() == failing::settling)
    // The job itself cancelled the reads.
    return x.cause.category == errc::cancelled ? void() : c.ending.causes.add(x.cause);
  if (!c.trains() || x.step <= c.horizon.reached())
    return fail_now(c, x.cause);
  if (c.ending.state() >= end_state::ended)
    return;  // No node reads beyond the end.
  if (c.ending.pending_failure && *c.ending.pending_failure->step <= x.step)
    return;
  c.ending.pending_failure = x.cause;
  c.ending.pending_failure->step = x.step;
  c.arm(chief_wait::news, c.options.deadlines.stop);
}

void on_input_warned(chief_state& c, const input_warned& x) { warn_of_node(c, x.text); }

void warn_of_node(chief_state& c, const std::string& text) {
  if (!c.trains())
    c.told.later.push_back(text);
  else if (c.told.warnings.insert(text).second)  // A restarted node repeats its warnings.
    c.warn(c.horizon.reached(), text);
}

void on_down(chief_state& c, const caf::down_msg& x) {
  const auto* found = c.nodes.find(x.source);
  if (!found) {
    if (const auto agent = c.agents.name_of(x.source); !agent.empty())
      on_agent_down(c, agent, x.reason);
    return;
  }
  const member who = *found;
  const auto place = c.nodes.place_of(who.id);
  c.nodes.ended(who.id);
  c.reporting.forget(who.name);
  c.tracing.forget(who.name);
  c.ending.halting.erase(who.id);
  if (c.next.growth.leaving.erase(who.id) > 0)
    return;
  if (row_of(who.what).is_halted && c.waiting.armed(chief_wait::back_off))
    return;
  error cause{category_of(x.reason), who.name + " ended: " + describe(x.reason), {}, who.name, c.horizon.reached()};
  if (c.ends()) {
    if (is_heard_at_the_end(c, who.what, x.reason))
      c.ending.causes.add(std::move(cause));
    if (who.what == role::callbacks && c.now == chief_phase::ending)
      end_job_nodes(c);
    return;
  }
  // While an attempt restores, the group may be back: the next attempt may begin at a state that has it.
  const bool restores = c.now == chief_phase::starting || c.now == chief_phase::recovering
                        || c.now == chief_phase::growing;
  if (row_of(who.what).in_group && c.groups.has_left(who.group) && (!restores || c.groups.is_dropped(who.group)))
    // The node is not awaited, except for its parts of states before it left.
    return c.self->send(c.writer(), gone{c.attempt, who.id});
  switch (who.what) {
    case role::evaluator: lose_evaluator(c, place); break;
    case role::callbacks: c.disarm(chief_wait::hooks); break;
    case role::summary_writer:
      c.saves.books_lost();
      if (c.ending.fails())
        send_books_up_to(c, c.horizon.until());
      break;
    case role::outfeed:
      if (c.ending.fails())
        send_books_up_to(c, c.horizon.until());
      c.tell_all<role::replica>(connect_reports{c.self});
      // Nobody makes host calls any more, and no replica waits for room for them.
      for (const auto& m : c.nodes.members())
        for (const auto* e : c.plan().edges_from(m.id, edge_kind::call))
          if (m.handle)
            c.self->send(caf::actor_cast<replica_actor>(m.handle), leave{c.attempt, e->id, c.horizon.reached()});
      fail_after_save(c, std::move(cause));
      return c.flushing() ? settle_saves(c) : void();
    case role::infeed:
    case role::replica: c.self->send(c.writer(), gone{c.attempt, who.id}); [[fallthrough]];
    case role::reducer:
      c.ending.causes.add(std::move(cause), x.reason == caf::exit_reason::kill ? cure::by_chance : cure::by_category,
                          who.what == role::infeed ? std::nullopt : std::optional{who.group});
      return flush_then_settle(c);
    default: break;
  }
  respond(c, who.what, trouble::dies, std::move(cause), place);
}

/// The nodes at the agent's place end with it, and no other attempt can begin.
static void on_agent_down(chief_state& c, const std::string& agent, const caf::error& reason) {
  c.agents.give_up();
  for (const auto w : {chief_wait::nodes, chief_wait::preparation})
    c.disarm(w);
  c.ending.causes.add(error{category_of(reason), agent + " ended: " + describe(reason), {}, agent, c.horizon.reached()},
                      cure::none);
  if (!c.ends() && !c.flushing())
    settle_saves(c);
}

/// No later step can be made, so no later state can be saved. Reports that the outfeed holds may name the cause: they
/// are flushed before any decision.
static void flush_then_settle(chief_state& c) {
  if (c.ending.failing() == failing::settling || c.flushing())
    return;
  c.waiting.thaw();  // Also in a pause, a failing attempt's deadlines run.
  c.agents.interrupt(cancel::work);
  if (!c.outfeed())
    return settle_saves(c);
  flush_outfeed(c);
}

void flush_outfeed(chief_state& c) {
  ++c.ending.flushes;
  c.self->send(c.outfeed(), flush{number_of_flush(c)});
  c.arm(chief_wait::flush, c.options.deadlines.stop);
}

/// The number of the attempt's last flush; no other attempt has the same.
static uint64_t number_of_flush(const chief_state& c) {
  return (static_cast<uint64_t>(c.attempt) << 32) + c.ending.flushes;
}

void on_flushed(chief_state& c, const flushed& x) {
  if (x.number != number_of_flush(c) || !c.flushing())
    return;
  c.disarm(chief_wait::flush);
  flushed_or_not(c);
}

/// The outfeed has answered, or will not answer.
void flushed_or_not(chief_state& c) {
  if (!c.saves.any() && c.ending.fails())
    return conclude(c);
  settle_saves(c);
}

void fail_now(chief_state& c, error cause) {
  c.ending.causes.add(std::move(cause));
  if (!c.ends() && !c.flushing())
    settle_saves(c);
}

/// Halts all nodes that send parts. Each of them then sends `gone`, so that the checkpoint writer can decide for each
/// snapshot whether it can still be complete. The chief waits only for those decisions and, if a new attempt may
/// follow, until no node is inside a step or a read.
static void settle_saves(chief_state& c) {
  if (!c.ending.fails_by(failing::settling))
    return;
  hear_of_work_beside(c);  // Before it is asked whether the job may recover.
  stop_listening(c);
  c.waiting.thaw();
  const bool trained = c.trains();
  c.agents.interrupt(cancel::work);
  for (const auto w : {chief_wait::start, chief_wait::newest, chief_wait::preparation, chief_wait::reports,
                       chief_wait::commit, chief_wait::hooks, chief_wait::next_save, chief_wait::flush,
                       chief_wait::news, chief_wait::cut, chief_wait::answers, chief_wait::verdict})
    c.disarm(w);
  if (!c.may_recover()) {
    for (size_t i = 0; i < c.evaluations.size(); ++i)
      c.disarm(evaluation_wait(i));
    c.evaluations.drop_waiting();
  }
  // Books follow the summaries of their state through the summary writer, which has those of all reported states.
  const auto kept = c.outfeed() ? c.horizon.reached() : c.horizon.until();
  send_books_up_to(c, kept);
  // Values that groups have not told by now do not come any more.
  const auto without_values = c.saves.first_waiting_books([&c](int64_t placed) { return lacks_values(c, placed); });
  c.saves.cancel_above(without_values ? std::min(kept, *without_values - 1) : kept);
  if (!c.writer() || !trained)
    c.saves.cancel_all();
  if (!c.saves.any() && !c.may_recover())
    return conclude(c);
  c.now = chief_phase::draining;
  const bool finished = c.horizon.end_is_final() && c.horizon.end() == c.horizon.reached();
  c.horizon.end_at(c.horizon.reached(), finished ? job_end::finished : job_end::stopped);
  if (c.saves.any())
    c.self->send(c.writer(), abandon{c.attempt, c.saves.newest()});
  halt_all(c);
  if (c.saves.any())
    c.self->send(c.writer(), settle{c.attempt, c.saves.steps()});
}

/// The failed attempt has nothing left to do: another one follows, or the job ends.
void conclude(chief_state& c) {
  if (c.ending.failing() != failing::settling || c.ending.causes.aborted() || (c.options.checkpoints && !c.writer()))
    return end(c);
  const auto& causes = c.ending.causes;
  auto cause = causes.root();
  const auto verdict = c.next.recovery.decide({cause, causes.curable(), causes.has_kill(), c.horizon.reached(),
                                               c.options.checkpoints || c.options.copies, c.ending.stops()});
  if (verdict.recovers)
    return recover(c, std::move(cause), verdict.delay);
  if (const auto group = c.group_to_drop()) {
    c.groups.drop(*group, cause);
    return recover(c, std::move(cause), {});
  }
  if (!verdict.why_not.empty())
    c.ending.causes.note(verdict.why_not);
  end(c);
}

void give_up_saves(chief_state& c) {
  auto cause = c.waited_for(chief_wait::commit, c.options.name);
  // Reports have stopped and records are not written, but the model can still be saved.
  if (c.ending.fails() && c.saves.books_wait()) {
    if (send_books_up_to(c, c.horizon.until()))
      return c.arm(chief_wait::commit, c.options.deadlines.stop);
    c.saves.cancel_all();  // They lack values that no group tells any more.
  }
  if (c.writer() && c.saves.may_inquire()) {  // Asks once which part is missing.
    c.self->send(c.writer(), name_missing{c.attempt, c.saves.oldest()});
    return c.arm(chief_wait::commit, c.options.deadlines.stop);
  }
  // The writer no longer answers, so no commit can be expected.
  c.saves.cancel_all();
  fail_now(c, std::move(cause));
}

void fail_after_save(chief_state& c, error cause) {
  c.ending.causes.add(std::move(cause), cure::none);
  if (c.ends())
    return;
  if (c.ending.fails())
    return c.now == chief_phase::recovering ? end(c) : void();
  if (!c.trains())
    return end(c);
  save_last(c);
}

/// Saves the healthy state at the horizon; then the job ends.
static void save_last(chief_state& c) {
  c.ending.fails_by(failing::saving);
  stop_listening(c);
  c.waiting.thaw();
  c.gates.open_all();
  c.evaluations.drop_waiting();
  if (!c.options.checkpoints || !c.writer())
    return end(c);
  for (const auto w : {chief_wait::reports, chief_wait::answers, chief_wait::hooks, chief_wait::next_save})
    c.disarm(w);
  for (size_t i = 0; i < c.evaluations.size(); ++i)
    c.disarm(evaluation_wait(i));
  if (!books_can_wait(c))
    send_books_up_to(c, c.horizon.until());
  drain(c, c.horizon.until(), job_end::stopped);
}

static void replace_writer(chief_state& c, error cause) {
  if (c.ending.fails() || !c.trains()) {
    c.ending.causes.add(std::move(cause), cure::none);
    return end(c);  // No writer is left that could save.
  }
  c.ending.causes.add(std::move(cause), cure::none);
  c.ending.fails_by(failing::replacing);
  c.saves.cancel_all();  // Their parts were lost with the old writer; the last save replaces them.
  c.disarm(chief_wait::commit);
  start_nodes_of(c, {c.nodes.id_of(role::checkpoint_writer)});
}

void save_with_new_writer(chief_state& c) {
  c.self->send(c.writer(), stand_in{c.attempt, c.options.stored});  // Sent before any part.
  for (const auto& [group, how] : c.groups.left())
    c.self->send(c.writer(), departed_of(c, group));
  for (const auto& m : c.nodes.members())  // The old writer may or may not have been told.
    if (!m.handle && (m.what == role::infeed || m.what == role::replica))
      c.self->send(c.writer(), gone{c.attempt, m.id});
  c.around().connect(c.agents.newcomers());
  c.saves.cancel_all();
  save_last(c);
}

}  // namespace troupe
