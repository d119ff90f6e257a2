#include "actors/steps/reducer.hpp"

#include "messages/counted.hpp"
#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <utility>

namespace troupe {

namespace {

/// Returns `x` if it can be added to the other parts; otherwise a refused part whose error names the replica.
gradient_part checked(const gradient_part& x, const parameter_layout& layout) {
  if (x.status != step_status::ok || x.retired
      || (x.gradient.type() == dtype::uint8 && x.gradient.byte_size() == layout.gradient_bytes()))
    return x;
  gradient_part refused{x.attempt, x.step, x.replica, step_status::bad_input};
  refused.cause = error{errc::invalid_argument,
                        "replica/" + std::to_string(x.replica) + " sent a gradient of "
                            + std::to_string(x.gradient.byte_size()) + " bytes as "
                            + std::string{to_string(x.gradient.type())} + ", and the model's has "
                            + std::to_string(layout.gradient_bytes()) + " as uint8",
                        {},
                        "reducer",
                        x.step};
  return refused;
}

}  // namespace

void reducer_state::on_part(const gradient_part& x) {
  const auto from = caf::actor_cast<replica_actor>(self->current_sender());
  if (!is_replica(x.replica)) {
    self->send(from,
               gradient_sum{x.attempt,
                            x.step,
                            step_status::bad_input,
                            {},
                            error{errc::invalid_argument,
                                  "a gradient came from replica/" + std::to_string(x.replica) + ", and the job has "
                                      + std::to_string(options.sums->replicas()) + " replicas, from replica/0 on",
                                  {},
                                  "reducer",
                                  x.step}});
    return;
  }
  if (x.attempt < attempt || (x.attempt == attempt && x.step < step))
    return;
  if (x.attempt > attempt || x.step > step)
    begin_step(x);
  const auto r = static_cast<size_t>(x.replica);
  replicas[r] = from;
  if (answer) {  // The part is repeated; replicas may be reading the sum.
    self->send(from, *answer);
    return;
  }
  const auto place = planted(planted_fault::sum_as_arrived) ? std::count(here.begin(), here.end(), true) : x.replica;
  parts[static_cast<size_t>(place)] = checked(x, options.sums->layout());
  here[r] = true;
  if (std::find(here.begin(), here.end(), false) != here.end())
    return;
  answer = reduce();
  for (const auto& to : replicas)
    self->send(to, *answer);
}

void reducer_state::begin_step(const gradient_part& x) {
  attempt = x.attempt;
  step = x.step;
  here.assign(here.size(), false);
  done.assign(done.size(), false);
  answer.reset();
}

gradient_sum reducer_state::reduce() {
  outcomes.clear();
  gradients.clear();
  for (const auto& p : parts) {
    outcomes.push_back({p.status, p.cause});
    gradients.push_back(p.gradient);
  }
  auto outcome = joined(outcomes);
  tensor total;
  const auto retired = std::count_if(parts.begin(), parts.end(), [](const gradient_part& p) { return p.retired; });
  if (outcome.status == step_status::ok && retired != 0 && retired != std::ssize(parts)) {
    outcome = {step_status::bad_input,
               error{errc::invalid_argument,
                     "the group has retired for " + std::to_string(retired) + " of its " + std::to_string(parts.size())
                         + " replicas, and the others sent gradients",
                     {},
                     "reducer",
                     step}};
  } else if (outcome.status == step_status::ok && retired == 0) {
    total = options.sums->sum(gradients);
    const auto& layout = options.sums->layout();
    if (!is_finite(layout, {0, layout.flat_bytes()}, total.data()))
      outcome = not_finite_sum(layout, gradients, std::exchange(total, {}), step);
  }
  return {attempt, step, outcome.status, std::move(total), std::move(outcome.cause)};
}

void reducer_state::on_applied(const applied& x) {
  if (x.attempt != attempt || x.step != step || !answer || !is_replica(x.replica))
    return;
  done[static_cast<size_t>(x.replica)] = true;
  if (std::find(done.begin(), done.end(), false) != done.end())
    return;
  for (const auto& to : replicas)
    self->send(to, all_applied{attempt, step});
}

/// Drops the parts of this attempt: their gradients belong to the replicas' engines, which overwrite them in the next
/// attempt.
void reducer_state::on_halt(const halt& x) {
  if (x.attempt < attempt)
    return;
  attempt = x.attempt;
  step = INT64_MAX;
  parts.assign(parts.size(), {});
  gradients.clear();
  answer.reset();
  self->send(caf::actor_cast<halted_sink_actor>(self->current_sender()), halted{x.attempt, options.id});
}

reducer_actor::behavior_type reducer(reducer_actor::stateful_pointer<reducer_state> self, reducer_options options) {
  auto& state = self->state;
  state.self = self;
  const auto count = static_cast<size_t>(options.sums->replicas());
  state.replicas.resize(count);
  state.parts.resize(count);
  state.here.resize(count);
  state.done.resize(count);
  state.gradients.reserve(count);
  state.outcomes.reserve(count);
  state.options = std::move(options);
  return counted<reducer_actor>(
      state, [&state](const gradient_part& x) { state.on_part(x); },
      [&state](const applied& x) { state.on_applied(x); }, [&state](const halt& x) { state.on_halt(x); },
      answers_probe(state));
}

}  // namespace troupe
