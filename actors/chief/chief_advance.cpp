// The chief's next actions, given what it knows: run after each message, in a fixed order, until nothing is left to do.
#include "actors/chief/chief_subjects.hpp"
#include "words/expect.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

static bool tell_idle_hooks(chief_state& c) { return c.trains() && c.facts.unanswered() == 0 && c.tell_progress(); }

/// Each line returns whether it did something. A line creates what later lines wait for, hence the order.
static bool take_round(chief_state& c) {
  bool any = begin_when_ready(c);                                 // First: all others need a phase with steps.
  any |= c.trains() && send_books_up_to(c, c.horizon.reached());  // No save is committed without its books.
  any |= !c.ends() && publish_commits(c);                         // Before its gate opens, and before its evaluation.
  any |= fail_as_announced(c);                                    // After news of reached steps, before new work.
  any |= !c.ends() && evaluate_checkpoints(c);                    // Before shown states: results come in state order.
  any |= evaluate_shown(c);                                       // Before an attempt, which waits for evaluators.
  any |= begin_delayed_attempt(c) || go_on_when_gone(c);          // Each is alone in its phase.
  any |= tell_idle_hooks(c);                                      // Before the horizon, which counts unanswered facts.
  any |= serve_session(c);                                        // After news for hooks; before what it grants.
  any |= collect_trace(c);                                        // Before its steps are followed by an end.
  any |= extend(c);                                               // After all gates: lines above may close one.
  any |= drain_further(c);                                        // An end waits for everything above.
  any |= end_with_nodes(c) || tell_end_when_closed(c);            // The last two lines are the end itself.
  any |= finish_when_gone(c);
  return any;
}

/// Begins waits that have a reason and ends those that have none. A handler that ends a wait gives the next one its
/// whole time.
static void set_waits(chief_state& c) {
  const auto set = [&c](chief_wait w, bool wanted, std::chrono::milliseconds patience) {
    if (!wanted)
      c.disarm(w);
    else if (!c.waiting.armed(w))
      c.arm(w, patience);
  };
  const auto& limits = c.options.deadlines;
  // Awaits the oldest pending save once its step is reached, and after a failure in any case. The wait does not begin
  // while saving listeners are still being told of a save.
  const bool save_awaited = c.trains() && c.saves.is_awaited(c.horizon.reached(), c.ending.fails());
  if (save_awaited && !c.facts.listening.hear_any_saving() && !c.waiting.armed(chief_wait::commit))
    c.saves.begin_wait();
  set(chief_wait::commit, save_awaited && (!c.facts.listening.hear_any_saving() || c.waiting.armed(chief_wait::commit)),
      limits.save);
  const bool reports_awaited = c.trains() && !c.ending.fails() && (!c.horizon.idle() || c.facts.expects());
  if (!reports_awaited)
    end_silence(c);
  else if (!c.waiting.armed(chief_wait::answers))
    set(chief_wait::reports, true, limits.silence);
  set(chief_wait::leave, !c.ends() && !c.next.growth.leaving.empty(), limits.stop);
  // After a stop, the time for steps already granted is limited, because the input may have become slower.
  const bool ends_soon = c.ending.failing() == failing::saving || (c.ending.stops() && !c.ending.fails());
  set(chief_wait::cut,
      c.now == chief_phase::draining && ends_soon && !c.horizon.idle() && c.ending.state() == end_state::open,
      limits.cut);
  // Hooks have a deadline only while others wait for them: at a gate, at the first and the last call, and while the
  // horizon waits until they catch up. A failed attempt does not wait for them.
  const bool others_wait = c.now == chief_phase::restoring || c.gates.awaited() || c.facts.full() || ends_a_run(c)
                           || c.facts.unanswered() > c.facts.size();
  const bool hooks_awaited = c.callbacks() && c.facts.unanswered() > 0 && c.now < chief_phase::leaving
                             && (c.ends() || (others_wait && !c.ending.fails()));
  set(chief_wait::hooks, hooks_awaited, limits.hooks);
  if (rests_between_runs(c))
    c.waiting.freeze();  // Only the caller is waited for.
  else if (c.session.on())
    c.waiting.thaw();
}

bool chief_state::advance() {
  constexpr int rounds_max = 64;
  int rounds = 0;
  while (take_round(*this))
    expect(++rounds <= rounds_max, "the chief finds something to do without an end");
  set_waits(*this);
  show_status();
  return rounds > 0;
}

}  // namespace troupe
