// What follows from what the chief knows: asked after each of its messages, in one order, until nothing does.
#include "actors/chief/chief.hpp"

#include "words/expect.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

bool chief_state::advance() {
  constexpr int rounds_max = 64;
  int rounds = 0;
  while (take_round())
    expect(++rounds < rounds_max, "the chief finds something to do without an end");
  set_waits();
  show_status();
  return rounds > 0;
}

/// Each line returns whether it did something. Earlier lines make what later ones wait for.
bool chief_state::take_round() {
  bool any = begin_when_ready();                                           // First, as all others need a phase in which there are steps.
  any |= trains() && send_books_up_to(horizon.reached());                  // No save is committed without its books.
  any |= !ends() && publish_commits();                                     // A fact before its gate opens, and before the evaluation of its state.
  any |= fail_as_announced();                                              // After what was reached is told, before anything else begins.
  any |= !ends() && evaluate_checkpoints();                                // Before shown states: results come in the order of states.
  any |= evaluate_shown();
  any |= begin_delayed_attempt();                                          // Once no evaluator reads a state of the one before.
  any |= tell_idle_hooks();                                                // Before the horizon, which counts what hooks have not answered.
  any |= extend();                                                         // After all gates: what the lines above do may close one.
  any |= drain_further();                                                  // An end waits for everything above.
  any |= tell_end_when_closed();
  any |= finish_when_gone();
  return any;
}

bool chief_state::tell_idle_hooks() {
  return trains() && facts.unanswered() == 0 && tell_progress();
}

/// Begins waits that have a reason, and ends those that have none any more. A handler that ends a wait gives the next one the whole patience.
void chief_state::set_waits() {
  const auto set = [this](chief_wait w, bool wanted, std::chrono::milliseconds patience) {
    if (!wanted)
      disarm(w);
    else if (!waiting.armed(w))
      arm(w, patience);
  };
  const auto& limits = options.deadlines;
  // The oldest save, once its step is reached; after a failure, any. Listeners hear of it before.
  const bool save_awaited = trains() && saves.is_awaited(horizon.reached(), ending.fails());
  if (save_awaited && !listening.hear_any_saving() && !waiting.armed(chief_wait::commit))
    saves.begin_wait();
  set(chief_wait::commit, save_awaited && (!listening.hear_any_saving() || waiting.armed(chief_wait::commit)), limits.save);
  const bool reports_awaited = trains() && !ending.fails() && (!horizon.idle() || facts.expects());
  if (!reports_awaited)
    end_silence();
  else if (!waiting.armed(chief_wait::answers))
    set(chief_wait::reports, true, limits.silence);
  // After a stop, the time in which granted steps may still be made is limited: the input may have become slower.
  const bool ends_soon = ending.failing() == failing::saving || (ending.stops() && !ending.fails());
  set(chief_wait::cut, now == phase::draining && ends_soon && !horizon.idle() && ending.state() == end_state::open, limits.cut);
  // Hooks have a deadline only while others wait for them: at a gate, at the first and the last call, and while the horizon waits until they
  // catch up. A failed attempt does not wait.
  const bool others_wait = now == phase::restoring || gates.awaited() || facts.full() || facts.unanswered() > facts.size();
  const bool hooks_awaited = callbacks() && facts.unanswered() > 0 && now < phase::leaving && (ends() || (others_wait && !ending.fails()));
  set(chief_wait::hooks, hooks_awaited, limits.hooks);
}

}  // namespace troupe
