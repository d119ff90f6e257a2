#include "actors/predictor.hpp"

#include "actors/exit_reason.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

namespace {

constexpr int32_t only_attempt = 1;

}  // namespace

void predictor_state::on_pull(const pull& x) {
  if (x.until_step <= until)
    return;
  const bool first = until == 0;
  until = x.until_step;
  if (first) {
    auto loaded = load_or_initialise(options.files, options.directory, options.step, options.seed, *options.parameters);
    if (!loaded)
      return finish(loaded.error());
    loaded->lease.reset();  // All of it is in memory.
    options.board->loaded(std::move(*loaded));
    nodes.start(*self, caf::actor_cast<progress_sink_actor>(self), *options.nodes);
    nodes.begin_attempt(only_attempt);
  }
  nodes.grant(only_attempt, until);
  wait();
}

void predictor_state::on_progress(const progress& x) {
  for (const auto& values : x.watched)
    options.board->batch(values);
  delivered = x.step;
  wait();
}

void predictor_state::wait() {
  waiting.disarm_all();
  if (delivered < until)
    waiting.arm(wait_batch, options.silence_max, "batch " + std::to_string(delivered));
}

/// A silence tells nothing of who is the cause of it: everyone says where they stand, and who does not is busy.
void predictor_state::on_deadline(const deadline& x) {
  const auto over = waiting.on(x);
  if (over == wait_answers)
    return finish_silent();
  if (over != wait_batch)
    return;
  nodes.ask(*self, whereabouts.begin(sub_plan::names(options.name)));
  waiting.arm(wait_answers, std::min(options.silence_max, std::chrono::milliseconds{30'000}), "");
}

void predictor_state::on_standing(const standing& x) {
  if (whereabouts.on(x) && waiting.armed(wait_answers))
    finish_silent();
}

void predictor_state::finish_silent() {
  finish(error{errc::deadline_exceeded, waiting.what(wait_batch) + " was not predicted within " + std::to_string(options.silence_max.count() / 1000)
                                         + " s: " + whereabouts.text(), {}, options.name});
}

void predictor_state::finish(std::optional<error> cause) {
  if (cause && cause->source.empty())
    cause->source = options.name;
  options.board->ended(std::move(cause));
  nodes.send_home();
  self->quit();
}

predictor_actor::behavior_type predictor(predictor_actor::stateful_pointer<predictor_state> self, predictor_options options) {
  auto& state = self->state;
  state.self = self;
  state.options = std::move(options);
  state.waiting.start(self, waits{predictor_state::wait_kinds, waits::period_for({state.options.silence_max})});
  self->set_down_handler([&state](const caf::down_msg& x) {
    if (state.nodes.has(x.source))
      state.finish(error{errc::aborted, "a node of the prediction ended: " + describe(x.reason), {}, state.options.name});
  });
  return {
    [&state](const pull& x) { state.on_pull(x); },
    [&state](const progress& x) { state.on_progress(x); },
    [&state](const stream_end& x) {
      state.finish(x.cause.category == errc::out_of_range ? std::nullopt : std::optional{x.cause});
    },
    [&state](const standing& x) { state.on_standing(x); },
    [&state](const deadline& x) { state.on_deadline(x); },
  };
}

}  // namespace troupe
