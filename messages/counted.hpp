// Actors that keep account of their time (words/activity.hpp), by their own clock.
//
// An actor's state has a member `activity spent`. Where it has `waits_for()`, that says for what the actor waits when
// no message is there; without it, for input. `queued()`, where there is one, counts what has arrived and is not used
// yet. `step_at_hand()`, where there is one, is the step to which what is recorded belongs. The behavior is made by
// `counted`.
#pragma once

#include "messages/control.hpp"
#include "messages/sinks.hpp"
#include "words/activity.hpp"

#include <caf/actor_clock.hpp>

#include <concepts>
#include <utility>

namespace troupe {

template <class State>
int64_t now_ns_of(const State& state) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(state.self->clock().now().time_since_epoch()).count();
}

/// Messages that wait behind the one at hand. What has arrived since the actor last looked at its mailbox, a few
/// messages ago, comes with the next look: it costs no atomic operation to ask.
template <class State>
int64_t mailbox_of(const State& state) {
  return static_cast<int64_t>(state.self->mailbox().queue().total_task_size());
}

/// Bytes of the tensors that a message brings.
template <class M>
int64_t tensor_bytes(const M& x) {
  int64_t bytes = 0;
  if constexpr (requires { x.components; })
    for (const auto& c : x.components)
      bytes += c.byte_size();
  if constexpr (requires { x.pieces; })
    for (const auto& p : x.pieces)
      bytes += p.elements.byte_size();
  if constexpr (requires { x.gradient; })
    bytes += x.gradient.byte_size();
  return bytes;
}

/// The handling of one message.
template <class State>
class counted_turn {
 public:
  counted_turn(State& state, int64_t bytes, const std::type_info& message) : state_(state) {
    const auto now = now_ns_of(state);
    look_at_step(now);
    state.spent.work(now, bytes, message, mailbox_of(state));
  }
  counted_turn(const counted_turn&) = delete;
  counted_turn& operator=(const counted_turn&) = delete;
  ~counted_turn() {
    auto cause = wait_cause::input;
    if constexpr (requires { state_.waits_for(); })
      cause = state_.waits_for();
    int64_t queued = 0;
    if constexpr (requires { state_.queued(); })
      queued = state_.queued();
    const auto now = now_ns_of(state_);
    state_.spent.wait(now, cause, queued);
    look_at_step(now);
  }

 private:
  void look_at_step(int64_t now) {
    if constexpr (requires { state_.step_at_hand(); })
      if (state_.spent.records())
        state_.spent.at_step(now, state_.step_at_hand());
  }

  State& state_;
};

template <class State, class Handler, class R, class M>
auto counted_handler(State& state, Handler handler, R (Handler::*)(M) const) {
  return [&state, handler = std::move(handler)](M message) -> R {
    const counted_turn<State> turn{state, tensor_bytes(message), typeid(M)};
    return handler(message);
  };
}

/// A behavior of these handlers, each a function object of one message.
template <class Actor, class State, class... Handlers>
typename Actor::behavior_type counted(State& state, Handlers... handlers) {
  state.spent = activity{now_ns_of(state)};
  return {counted_handler(state, std::move(handlers), &Handlers::operator())...};
}

/// The spans that an actor records for a trace: a bound on its memory, some 400 KB.
inline constexpr size_t recorded_spans_max = 8'192;

/// Answers `probe`, unless that only begins a recording.
template <class State>
void tell_standing(State& state, const probe& x, std::vector<std::pair<std::string, int64_t>> counts = {},
                   std::vector<std::string> asked = {}) {
  const auto now = now_ns_of(state);
  if (x.records == probe::begins)
    return state.spent.record(now, recorded_spans_max, x.first - 1, x.end);
  standing told{x.number, state.options.name, std::move(counts), state.spent.counts(now), {}, std::move(asked)};
  if (x.records == probe::ends)
    told.recorded = state.spent.recorded(now);
  state.self->send(caf::actor_cast<standing_sink_actor>(state.self->current_sender()), std::move(told));
}

/// The handler of `probe`, for an actor that does not count steps.
template <class State>
auto answers_probe(State& state) {
  return [&state](const probe& x) { tell_standing(state, x); };
}

}  // namespace troupe
