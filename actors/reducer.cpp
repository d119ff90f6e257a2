#include "actors/reducer.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

namespace {

/// What a step is reported as when several replicas had something to say: an error first, then a non-finite value, then
/// the end of the data; among equals the lowest replica's.
int weight(const gradient_part& x) {
  const auto status = static_cast<step_status>(x.status);
  return has(status, step_status::bad_input) ? 4 : has(status, step_status::not_finite) ? 3
         : has(status, step_status::ended) ? 2 : status == step_status::ok ? 0 : 1;
}

/// The gradient of the first variable that is not finite, and whose part of it is not either.
std::vector<std::string> notes_on(const parameter_layout& layout, const std::vector<tensor>& parts, const tensor& sum) {
  std::vector<std::string> notes;
  if (const auto fault = first_fault(layout, sum.data()))
    notes.push_back(to_string(*fault));
  for (size_t r = 0; r < parts.size(); ++r)
    if (const auto fault = first_fault(layout, parts[r].data()))
      notes.push_back("on replica/" + std::to_string(r) + " " + to_string(*fault));
  notes.emplace_back(notes.size() > 1 ? debug_numerics_hint : "every replica's part of it is finite: their sum overflowed");
  return notes;
}

}  // namespace

void reducer_state::on_part(const gradient_part& x) {
  if (x.attempt < attempt || (x.attempt == attempt && x.step < step))
    return;
  if (x.attempt > attempt || x.step > step) {
    attempt = x.attempt;
    step = x.step;
    parts.assign(static_cast<size_t>(options.replicas), std::nullopt);
    done.assign(static_cast<size_t>(options.replicas), false);
  }
  const auto r = static_cast<size_t>(x.replica);
  parts[r] = x;
  replicas[r] = caf::actor_cast<replica_actor>(self->current_sender());
  if (std::any_of(parts.begin(), parts.end(), [](const auto& p) { return !p; }))
    return;

  gradient_sum sum{attempt, step};
  const gradient_part* worst = &*parts.front();
  std::vector<tensor> gradients;
  for (const auto& p : parts) {
    sum.status |= p->status;
    if (weight(*p) > weight(*worst))
      worst = &*p;
    gradients.push_back(p->gradient);
  }
  sum.cause = worst->cause;
  for (const auto& p : parts)
    if (&*p != worst && worst->cause.category == errc::nan_loss && p->cause.category == errc::nan_loss)
      sum.cause.notes.push_back("so it was on " + p->cause.source + ": " + p->cause.message);
  if (sum.status == 0) {
    sum.gradient = reduce_gradients(*options.layout, gradients);
    if (!is_finite(*options.layout, {0, options.layout->gradient_bytes()}, sum.gradient.data())) {
      sum.status = static_cast<uint32_t>(step_status::not_finite);
      sum.cause = error{errc::nan_loss, "the reduced gradient is not finite", notes_on(*options.layout, gradients, sum.gradient), "reducer", step};
      sum.gradient = {};
    }
  }
  for (const auto& to : replicas)
    self->send(to, sum);
}

void reducer_state::on_applied(const applied& x) {
  if (x.attempt != attempt || x.step != step)
    return;
  done[static_cast<size_t>(x.replica)] = true;
  if (std::find(done.begin(), done.end(), false) != done.end())
    return;
  for (const auto& to : replicas)
    self->send(to, applied{attempt, step, -1});
}

reducer_actor::behavior_type reducer(reducer_actor::stateful_pointer<reducer_state> self, reducer_options options) {
  auto& state = self->state;
  state.self = self;
  state.replicas.resize(static_cast<size_t>(options.replicas));
  state.options = std::move(options);
  return {
    [&state](const gradient_part& x) { state.on_part(x); },
    [&state](const applied& x) { state.on_applied(x); },
  };
}

}  // namespace troupe
