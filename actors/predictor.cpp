#include "actors/predictor.hpp"

#include "actors/exit_reason.hpp"
#include "actors/writers/start_values.hpp"

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
    auto loaded = load_or_initialise(options.files, options.directory, options.which, options.seed, options.parameters,
                                     options.start.get());
    if (!loaded)
      return finish(loaded.error());
    loaded->lease.reset();  // The whole checkpoint is in memory.
    options.board->loaded(std::move(*loaded));
    nodes.start(only_attempt);
    waiting.await_nodes();
  }
  if (nodes.awaits_nodes())
    return;
  nodes.grant(until);
  wait();
}

void predictor_state::on_started(const started& x) {
  if (!nodes.on(x))
    return;
  nodes.begin_attempt();
  nodes.grant(until);
  wait();
}

void predictor_state::on_progress(const progress& x) {
  for (const auto& values : x.watched)
    options.board->batch(values);
  delivered = x.step;
  wait();
}

void predictor_state::wait() {
  waiting.disarm();
  if (delivered < until)
    waiting.await(delivered);
}

void predictor_state::finish(std::optional<error> cause) {
  if (cause && cause->source.empty())
    cause->source = options.name;
  options.board->ended(std::move(cause));
  nodes.end_nodes();
  self->quit();
}

predictor_actor::behavior_type predictor(predictor_actor::stateful_pointer<predictor_state> self,
                                         predictor_options options) {
  auto& state = self->state;
  state.self = self;
  state.options = std::move(options);
  state.nodes = sub_plan{*self, state.options.nodes};
  state.waiting.start(self, state.options.name, "predicted", state.options.silence_max);
  self->set_down_handler([&state](const caf::down_msg& x) {
    if (state.nodes.has(x.source))
      state.finish(error{
          category_of(x.reason), "a node of the prediction ended: " + describe(x.reason), {}, state.options.name});
  });
  return {
      [&state](const started& x) { state.on_started(x); },
      [&state](const pull& x) { state.on_pull(x); },
      [&state](const progress& x) { state.on_progress(x); },
      [&state](const stream_end& x) { state.finish(x.kind == end_kind::data ? std::nullopt : std::optional{x.cause}); },
      [&state](const standing& x) {
        if (auto silence = state.waiting.on(x))
          state.finish(std::move(silence));
      },
      [&state](const deadline& x) {
        if (auto silence = state.waiting.on(x, state.nodes))
          state.finish(std::move(silence));
      },
  };
}

}  // namespace troupe
