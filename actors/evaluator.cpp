#include "actors/evaluator.hpp"

#include "actors/exit_reason.hpp"
#include "words/guarded.hpp"
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
  totals.emplace(options.outputs, options.metrics);
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

std::optional<int64_t> evaluator_state::limit() const {
  if (current.batches < 0)
    return options.steps;
  return std::min(current.batches, options.steps.value_or(current.batches));
}

void evaluator_state::extend(int64_t reached) {
  until = std::min(limit().value_or(INT64_MAX), reached + ahead_max);
  nodes.grant(attempt, until);
  waiting.await(reached);
}

void evaluator_state::on_progress(const progress& x) {
  if (!running || x.attempt != attempt)
    return;
  for (const auto& step : x.watched)
    totals->add(step.values);
  show();
  if (const auto end = limit(); end && x.step >= *end)
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

/// Blocks this actor, which has a thread of its own, for as long as writing takes; the chief's deadline covers it.
void evaluator_state::on_export(const export_at& x) {
  auto paths = options.exports ? guarded("an exporter", [&] { return options.exports({x.metrics, x.prefix, x.is_final}); })
                               : expected<std::vector<std::string>>{};
  exported answer{x.attempt, x.id, x.evaluation, paths.has_value(), {}, {}};
  if (paths)
    answer.paths = std::move(*paths);
  else
    answer.cause = std::move(paths.error());
  if (!paths && answer.cause.source.empty())
    answer.cause.source = options.name;
  self->send(asker, std::move(answer));
}

void evaluator_state::show() const {
  if (options.board)
    options.board->evaluating(options.index, running ? std::optional{at.step} : std::nullopt, running ? totals->batches() : 0);
}

void evaluator_state::finish(std::optional<error> cause) {
  running = false;
  show();
  lease.reset();
  waiting.disarm();
  evaluated result{current.attempt, at, !cause, {}, totals->batches()};
  if (!cause) {
    if (auto results = totals->results()) {
      result.metrics = std::move(results->numbers);
      result.arrays = std::move(results->arrays);
      result.metrics["global_step"] = static_cast<double>(at.step);
    } else {
      cause = std::move(results.error());
      result.ok = false;
    }
  }
  if (cause) {
    if (cause->source.empty())
      cause->source = options.name;
    result.cause = std::move(*cause);
  }
  result.seconds = std::chrono::duration<double>(self->clock().now() - started).count();
  result.checkpoint = current.prefix;
  result.evaluation = current.evaluation;
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
    [&state](const export_at& x) { state.on_export(x); },
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
