#include "actors/steps/reducer.hpp"

#include "words/severity.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

namespace {

/// Whether the error of `x` is reported instead of that of `than`, if several replicas sent errors for a step. Among
/// equals the lowest replica's error is reported.
bool outranks(const gradient_part& x, const gradient_part& than) {
  if (x.status == step_status::ok || than.status == step_status::ok)
    return x.status != step_status::ok;
  const auto fails = [](const gradient_part& p) { return end_kind_of(p.status) == end_kind::failed; };
  // A cancellation by one replica is not the end of the data that another one reached: this step may be made again.
  if (fails(x) != fails(than))
    return fails(x);
  return severity_of(x.status) > severity_of(than.status);
}

/// Names the first variable whose gradient is not finite, and each replica whose part of the sum is not finite.
std::vector<std::string> notes_on(const parameter_layout& layout, const std::vector<tensor>& parts, const tensor& sum) {
  std::vector<std::string> notes;
  if (const auto fault = first_fault(layout, sum.data()))
    notes.push_back(to_string(*fault));
  for (size_t r = 0; r < parts.size(); ++r)
    if (const auto fault = first_fault(layout, parts[r].data()))
      notes.push_back("on replica/" + std::to_string(r) + " " + to_string(*fault));
  notes.emplace_back(notes.size() > 1 ? debug_numerics_hint
                                      : "every replica's part of it is finite: their sum overflowed");
  return notes;
}

/// Returns `x` if it can be added to the other parts; otherwise a refused part whose error names the replica.
gradient_part checked(const gradient_part& x, const parameter_layout& layout) {
  if (x.status != step_status::ok
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
  parts[r] = checked(x, options.sums->layout());
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
  gradient_sum sum{attempt, step};
  const gradient_part* worst = &parts.front();
  gradients.clear();
  for (const auto& p : parts) {
    sum.status = sum.status | p.status;
    if (outranks(p, *worst))
      worst = &p;
    gradients.push_back(p.gradient);
  }
  sum.cause = worst->cause;
  for (const auto& p : parts)
    if (&p != worst && worst->cause.category == errc::nan_loss && p.cause.category == errc::nan_loss)
      sum.cause.notes.push_back("so it was on " + p.cause.source + ": " + p.cause.message);
  if (sum.status != step_status::ok)
    return sum;
  const auto& layout = options.sums->layout();
  sum.gradient = options.sums->sum(gradients);
  if (!is_finite(layout, {0, layout.gradient_bytes()}, sum.gradient.data())) {
    sum.status = step_status::not_finite;
    sum.cause = error{errc::nan_loss, "the reduced gradient is not finite", notes_on(layout, gradients, sum.gradient),
                      "reducer", step};
    sum.gradient = {};
  }
  return sum;
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
  state.options = std::move(options);
  return {
      [&state](const gradient_part& x) { state.on_part(x); },
      [&state](const applied& x) { state.on_applied(x); },
      [&state](const halt& x) { state.on_halt(x); },
  };
}

}  // namespace troupe
