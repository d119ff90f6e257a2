// The chief between a failed attempt and the next one.
//
//   failure ──► settle_saves ──halt──► infeeds, replicas, reducers ──halted, or their downs──► flush the outfeed
//                                                                                                      │
//   begin_attempt ◄── back_off ◄── recover ◄── recovery::decide ◄─────────────────────────────── conclude ──► end
//         │
//         └── start_nodes, of those that are dead ──► agents ── started ──► restore{attempt + 1} ──► checkpoint writer
//                                                                                                      │
//   begin ◄── restored ────────────────────────────────────────────────────────────────────────────────┘
#include "actors/chief/chief_subjects.hpp"
#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

/// Whether another attempt may follow, so that the failed one is ended with care. Later news may change the answer.
bool chief_state::may_recover() const {
  const bool restores = options.checkpoints || options.copies;
  const bool possible = restores && writer() && !ending.stops() && !ending.causes.aborted();
  return possible && ((next.recovery.enabled() && ending.causes.curable()) || group_to_drop());
}

void halt_all(chief_state& c) {
  for (const auto what : ending_order())
    for (const auto& m : c.nodes.members())
      if (m.what == what && m.handle && row_of(what).is_halted) {
        c.ending.halting.insert(m.id);
        c.self->send(caf::actor_cast<caf::typed_actor<caf::reacts_to<halt>>>(m.handle), halt{c.attempt});
      }
  if (!c.ending.halting.empty() && c.may_recover())
    c.arm(chief_wait::halt, c.options.deadlines.stop);
}

void on_halted(chief_state& c, const halted& x) { c.ending.halting.erase(x.who); }

/// The node's thread may be inside a step or a read forever, and may still write to an arena: no other attempt may
/// begin.
void on_unhalted(chief_state& c) {
  for (const auto& m : c.nodes.members())
    if (c.ending.halting.contains(m.id))
      c.ending.causes.add(error{errc::deadline_exceeded,
                                m.name + " did not end its step or its read within "
                                    + std::to_string(c.options.deadlines.stop.count()) + " ms",
                                {},
                                c.options.name,
                                c.horizon.reached()},
                          cure::none);
  c.ending.halting.clear();
}

void recover(chief_state& c, error cause, std::chrono::milliseconds delay) {
  c.now = chief_phase::recovering;
  for (const auto w : {chief_wait::halt, chief_wait::commit, chief_wait::flush})
    c.disarm(w);
  job_event e{.what = job_event::kind::recovering,
              .step = c.horizon.reached(),
              .failure = std::move(cause),
              .attempt = c.attempt};
  e.text = "attempt " + std::to_string(c.attempt) + " ended at step " + std::to_string(e.step) + ", attempt "
           + std::to_string(c.attempt + 1) + " begins in " + std::to_string(delay.count())
           + " ms: " + to_text(*e.failure);
  c.publish(std::move(e));
  have_work_begun_anew(c);
  if (delay.count() == 0)
    return begin_attempt(c);  // The timer would delay it by up to one period.
  c.arm(chief_wait::back_off, delay);
}

/// Begins the attempt once no evaluator reads the state that the last attempt sent it, and work beside the runs that
/// had failed has begun anew: the attempt may need what it brings.
bool begin_delayed_attempt(chief_state& c) {
  if (c.ends() || !c.next.recovery.delayed() || c.session.awaits_caller())
    return false;
  for (size_t i = 0; i < c.evaluations.size(); ++i)
    if (c.evaluations.at(i).shows() && c.evaluations.at(i).is_asked())
      return false;
  c.next.recovery.take_delayed();
  begin_attempt(c);
  return true;
}

void begin_attempt(chief_state& c) {
  for (size_t i = 0; i < c.evaluations.size(); ++i)
    if (auto& schedule = c.evaluations.at(i); schedule.shows()) {
      if (schedule.is_asked()) {
        c.next.recovery.delay();
      } else {
        schedule.end();
        c.disarm(evaluation_wait(i));
      }
    }
  if (c.session.awaits_caller())
    c.next.recovery.delay();  // Work beside the runs does not bring yet what the attempt may need.
  if (c.next.recovery.delayed())
    return;  // Or an evaluator still reads the state that it was sent; the next one would overwrite it.
  begin_books(c);
  c.next.growth = {.leaving = std::move(c.next.growth.leaving)};
  c.next.growth.starts = true;  // Once the nodes that were to end with an iteration have ended.
  if (planted(planted_fault::timer_survives))
    c.arm(chief_wait::back_off, std::chrono::seconds{1});
}

void begin_books(chief_state& c) {
  for (const auto id : c.saves.held())
    c.self->send(c.writer(), unlease{id});
  const auto stood_at = c.horizon.reached();
  static_cast<attempt_books&>(c) = attempt_books{.attempt = c.attempt + 1};
  c.horizon = c.fresh_horizon();
  c.horizon.begin(stood_at, c.goal());  // For callers that ask before the commit is loaded.
  c.gates.begin_attempt();
  c.facts.begin_attempt();
  c.questions.begin_attempt();
  c.facts.listening.begin_attempt();
  drop_trace(c);
}

troupe::horizon chief_state::fresh_horizon() const {
  // Also while it is being started.
  const bool records = nodes.count(role::summary_writer) > 0 && options.summary_steps > 0;
  return troupe::horizon{
      {options.checkpoints, options.save_steps, records ? std::optional{options.summary_steps} : std::nullopt}};
}

error nothing_left(const chief_state& c) {
  return {errc::not_found,
          "no checkpoint is left, and the job had saved one at step "
              + to_string(c.told.saved.value_or(checkpoint_id{})) + ": it cannot go on",
          {},
          c.options.name};
}

}  // namespace troupe
