#include "actors/evaluator.hpp"

#include "actors/exit_reason.hpp"
#include "actors/writers/start_values.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

namespace {

/// Limit on evaluated steps that the sub-plan sends before this actor has handled them; it bounds the mailbox.
constexpr int64_t ahead_max = 4096;

}  // namespace

void evaluator_state::on_evaluate(const evaluate_at& x) {
  current = x;
  started = self->clock().now();
  totals.emplace(options.outputs);
  running = true;
  at = {};
  auto loaded = load_or_initialise(options.files, options.directory, current.which, options.seed, options.parameters, options.start.get());
  if (!loaded)
    return finish(loaded.error());
  at = loaded->id;
  current.prefix = loaded->prefix;
  lease = std::move(loaded->lease);
  if (!nodes.started())
    nodes.start(*self, options.nodes);
  nodes.begin_attempt(++attempt);
  show();
  until = 0;
  extend(0);
}

void evaluator_state::extend(int64_t reached) {
  const int64_t end = options.steps.value_or(INT64_MAX);
  until = std::min(end, reached + ahead_max);
  nodes.grant(attempt, until);
  waiting.await(reached);
}

void evaluator_state::on_progress(const progress& x) {
  if (!running || x.attempt != attempt)
    return;
  for (const auto& step : x.watched)
    totals->add(step.values);
  show();
  if (options.steps && x.step >= *options.steps)
    finish({});
  else if (x.step + ahead_max / 2 >= until)
    extend(x.step);
  else
    waiting.await(x.step);
}

void evaluator_state::on_end(const stream_end& x) {
  if (!running || x.attempt != attempt)
    return;
  if (x.kind == end_kind::data && totals->batches() == 0)
    finish(error{errc::out_of_range, "the dataset of the evaluation has no batches", {}, x.cause.source});
  else if (x.kind == end_kind::data)
    finish({});
  else
    finish(x.cause);
}

void evaluator_state::show() const {
  if (options.board)
    options.board->evaluating(running ? std::optional{at.step} : std::nullopt, running ? totals->batches() : 0);
}

void evaluator_state::finish(std::optional<error> cause) {
  running = false;
  show();
  lease.reset();
  waiting.disarm();
  evaluated result{current.attempt, at, !cause, {}, totals->batches()};
  if (cause) {
    if (cause->source.empty())
      cause->source = options.name;
    result.cause = std::move(*cause);
  } else {
    result.metrics = totals->results();
    result.metrics["global_step"] = static_cast<double>(at.step);
  }
  result.seconds = std::chrono::duration<double>(self->clock().now() - started).count();
  result.checkpoint = current.prefix;
  self->send(asker, std::move(result));
}

evaluator_actor::behavior_type evaluator(evaluator_actor::stateful_pointer<evaluator_state> self, evaluator_options options,
                                         evaluation_sink_actor asker) {
  auto& state = self->state;
  state.self = self;
  state.options = std::move(options);
  state.asker = std::move(asker);
  state.waiting.start(self, state.options.name, "evaluated", state.options.silence_max);
  self->set_down_handler([&state](const caf::down_msg& x) {
    if (!state.nodes.has(x.source))
      return;
    state.nodes.send_home();
    if (state.running)
      state.finish(error{errc::aborted, "a node of the evaluation ended: " + describe(x.reason), {}, state.options.name});
  });
  return {
    [&state](const evaluate_at& x) {
      if (!state.running)
        state.on_evaluate(x);
    },
    [&state](const request&) {
      if (state.running)
        state.finish(error{errc::cancelled, "the evaluation was stopped", {}, state.options.name});
    },
    [&state](const progress& x) { state.on_progress(x); },
    [&state](const stream_end& x) { state.on_end(x); },
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
