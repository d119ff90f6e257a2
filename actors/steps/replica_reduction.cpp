// The reduction of a step's status and gradient over the replicas of a group: by messages to a reducer, or in a
// collective. A retired group has no gradient and applies nothing: its steps are over once all are known to be well.
// Whether it has retired does not change while a step is under way, since it retires at a step that nobody has begun.
#include "actors/steps/replica.hpp"
#include "messages/counted.hpp"
#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

void replica_state::reduce(step_outcome made) {
  if (planted(planted_fault::carried_unapplied) && made.status == step_status::ok)
    options.engine->carry(target);
  if (planted(planted_fault::status_ignored) && options.index > 0)
    made = {};
  auto gradient = made.status == step_status::ok && trains() ? options.engine->gradient() : tensor{};
  if (seat) {
    waiting = wait::gathered;
    seat->gather(std::move(made), std::move(gradient));
    return meet();
  }
  waiting = wait::sum;
  self->send(peers.reducer, gradient_part{attempt, step, options.index, made.status, std::move(gradient),
                                          std::move(made.cause), !trains()});
  if (planted(planted_fault::gradient_ahead))
    self->send(peers.reducer, gradient_part{attempt, step + 1, options.index, step_status::ok, tensor{}, {}});
}

// -- by messages -----------------------------------------------------------------------

void replica_state::on_sum(const gradient_sum& x) {
  if (x.attempt != attempt || x.step != step || waiting != wait::sum)
    return;
  if (const auto status = x.status; status != step_status::ok) {
    waiting = wait::none;
    return stop_at(status, x.cause);
  }
  if (!trains()) {
    waiting = wait::none;
    finish_step();
    return advance();
  }
  apply(x.gradient);
  waiting = wait::all_applied;
  self->send(peers.reducer, applied{attempt, step, options.index});
}

void replica_state::on_all_applied(const all_applied& x) {
  if (x.attempt != attempt || x.step != step || waiting != wait::all_applied)
    return;
  waiting = wait::none;
  finish_step();
  advance();
}

// -- in a collective -------------------------------------------------------------------

void replica_state::on_wake(const wake& x) {
  if (x.attempt != attempt || x.step != step)
    return;
  meet();
  advance();
}

bool replica_state::all_here() {
  spent.pause(now_ns_of(*this), wait_cause::peers);  // It looks for a while before it returns to its mailbox.
  const bool here = seat->all_here();
  spent.go_on(now_ns_of(*this));
  return here;
}

void replica_state::meet() {
  while (seat && waiting != wait::none && all_here()) {
    seat->wake_sleepers([this](const std::any& who) {
      const auto sleeper = caf::actor_cast<wake_sink_actor>(std::any_cast<const caf::actor_addr&>(who));
      if (sleeper && !planted(planted_fault::phase_without_wake))
        self->send(sleeper, wake{attempt, step});
    });
    if (waiting == wait::applied) {
      waiting = wait::none;
      return finish_step();
    }
    auto outcome = waiting == wait::gathered ? seat->gathered() : seat->summed(step);
    if (outcome.status != step_status::ok) {
      waiting = wait::none;
      return stop_at(outcome.status, std::move(outcome.cause));
    }
    if (!trains()) {
      waiting = wait::none;
      return finish_step();
    }
    if (waiting == wait::gathered) {
      waiting = wait::summed;
      seat->sum([this](gradient_view sum) { options.engine->measure(sum); });
    } else {
      waiting = wait::applied;
      apply(seat->total());
      seat->apply();
    }
  }
}

}  // namespace troupe
