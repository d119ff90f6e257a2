// The chief between a failed attempt and the next one.
//
//   failure ──► settle_saves ──halt──► infeeds, replicas, reducers ──halted, or their downs──► flush the outfeed ──► conclude
//                                                                                                          │  │
//        begin_attempt ◄── back_off ◄── recover ◄───────────────── recovery::decide ───────────────────────┘  └──► end
//              │
//              └── dead nodes start anew ── restore{attempt + 1} ──► checkpoint writer ── restored ──► begin, as at the start
#include "actors/chief/chief.hpp"

#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

/// Whether the failed attempt is worth to be ended with care, as another one may follow. Late news may change that.
bool chief_state::may_recover() const {
  const bool possible = options.checkpoints && writer() && !ending.stops() && !ending.causes.aborted();
  return possible && ((recovery.enabled() && ending.causes.curable()) || group_to_drop());
}

void chief_state::halt_all() {
  for (const auto what : ending_order())
    for (const auto& m : nodes.members())
      if (m.what == what && m.handle && row_of(what).is_halted) {
        ending.halting.insert(m.id);
        self->send(caf::actor_cast<caf::typed_actor<caf::reacts_to<halt>>>(m.handle), halt{attempt});
      }
  if (!ending.halting.empty() && may_recover())
    arm(chief_wait::halt, options.deadlines.stop);
}

void chief_state::on_halted(const halted& x) {
  ending.halting.erase(x.who);
}

/// Its thread may be inside a step or a read for good, and may still write to an arena: no other attempt may begin.
void chief_state::on_unhalted() {
  for (const auto& m : nodes.members())
    if (ending.halting.contains(m.id))
      ending.causes.add(error{errc::deadline_exceeded, m.name + " did not end its step or its read within "
                                                         + std::to_string(options.deadlines.stop.count()) + " ms", {}, options.name, horizon.reached()},
                        cure::none);
  ending.halting.clear();
}

void chief_state::recover(error cause, std::chrono::milliseconds delay) {
  now = phase::recovering;
  for (const auto w : {chief_wait::halt, chief_wait::commit, chief_wait::flush})
    disarm(w);
  job_event e{.what = job_event::kind::recovering, .step = horizon.reached(), .failure = std::move(cause), .attempt = attempt};
  e.text = "attempt " + std::to_string(attempt) + " ended at step " + std::to_string(e.step) + ", attempt " + std::to_string(attempt + 1)
           + " begins in " + std::to_string(delay.count()) + " ms: " + to_string(*e.failure);
  publish(std::move(e));
  if (delay.count() == 0)
    return begin_attempt();  // The timer would take a period of its own.
  arm(chief_wait::back_off, delay);
}

/// An evaluator has read the state that it was sent in the last attempt.
bool chief_state::begin_delayed_attempt() {
  bool reads = false;
  for (size_t i = 0; i < evaluations.size(); ++i)
    reads = reads || (evaluations.at(i).shows() && evaluations.at(i).is_asked());
  if (ends() || reads || !recovery.take_delayed())
    return false;
  begin_attempt();
  return true;
}

void chief_state::begin_attempt() {
  for (const auto id : saves.held())
    self->send(writer(), unlease{id});
  const auto stood_at = horizon.reached();
  for (size_t i = 0; i < evaluations.size(); ++i)
    if (auto& schedule = evaluations.at(i); schedule.shows()) {
      if (schedule.is_asked()) {
        recovery.delay();
      } else {
        schedule.end();
        disarm(evaluation_wait(i));
      }
    }
  if (recovery.delayed())
    return;  // An evaluator reads the state that it was sent, and would get another one over it.
  static_cast<attempt_books&>(*this) = attempt_books{.attempt = attempt + 1};
  horizon = fresh_horizon();
  horizon.begin(stood_at, goal());  // For whoever asks before the commit is loaded.
  gates.begin_attempt();
  facts.begin_attempt();
  questions.begin_attempt();
  listening.begin_attempt();
  options.nodes->begin_attempt();
  std::vector<node_id> dead;
  for (const auto& m : nodes.members())
    if (!m.handle && row_of(m.what).is_halted && !(row_of(m.what).in_group && groups.is_dropped(m.group)))
      dead.push_back(m.id);
  for (const auto id : dead) {
    restart(id);
    options.nodes->connect(id);
  }
  restore_state();
  if (planted(planted_fault::timer_survives))
    arm(chief_wait::back_off, std::chrono::seconds{1});
}

/// Starts a node in the place of one that has ended.
void chief_state::restart(node_id id) {
  auto handle = options.nodes->start(id, caf::actor_cast<caf::strong_actor_ptr>(self));
  self->monitor(caf::actor_cast<caf::actor>(handle));
  nodes.started(id, std::move(handle));
}

troupe::horizon chief_state::fresh_horizon() const {
  return troupe::horizon{{options.checkpoints, options.save_steps, summaries() ? std::optional{options.summary_steps} : std::nullopt}};
}

}  // namespace troupe
