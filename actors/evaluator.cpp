#include "actors/evaluator.hpp"

#include "actors/checkpoint_loading.hpp"
#include "actors/exit_reason.hpp"

#include <caf/send.hpp>
#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

namespace {

/// Evaluated steps the sub-plan may hold before this actor has seen them: bounds its mailbox.
constexpr int64_t ahead_max = 4096;

}  // namespace

void evaluator_state::on_evaluate(const evaluate_at& x) {
  current = x;
  started = self->clock().now();
  totals.emplace(options.outputs);
  running = true;
  if (auto loaded = load(); !loaded)
    return finish(loaded.error());
  if (!source)
    start_nodes();
  ++attempt;
  until = 0;
  self->send(drain, begin{attempt, 0, {}});
  self->send(worker, begin{attempt, 0, {}});  // Before the infeed, whose first word may be that there are no data.
  self->send(source, begin{attempt, 0, {}});
  extend(0);
}

expected<void> evaluator_state::load() {
  at_step = 0;
  const auto initialise = [&]() -> expected<void> {
    current.prefix.clear();
    options.parameters->initialise(options.seed);
    return {};
  };
  if (options.directory.empty())
    return initialise();
  auto store = checkpoint_store::open(options.files, options.directory, {.read_only = true});
  if (!store && store.error().category == errc::not_found && current.step < 0)
    return initialise();
  if (!store)
    return fail(store.error());
  auto found = current.step < 0 ? (*store)->restore_newest() : (*store)->restore(current.step);
  if (!found && found.error().category == errc::not_found && current.step < 0)
    return initialise();
  if (!found)
    return fail(found.error());
  at_step = found->content.step;
  current.prefix = found->prefix;
  lease = found->lease;
  return load_into(*options.parameters, *found, false);
}

void evaluator_state::start_nodes() {
  auto& nodes = *options.nodes;
  drain = nodes.start_outfeed(caf::actor_cast<progress_sink_actor>(self), {});
  worker = nodes.start_replica(0, {drain, {}, {}});
  source = nodes.start_infeed(0, {});
  for (const auto& [edge, to] : nodes.edges_of(0)) {
    self->send(source, connect{edge, caf::actor_cast<caf::strong_actor_ptr>(worker)});
    self->send(worker, connect{edge, caf::actor_cast<caf::strong_actor_ptr>(source)});
  }
  self->monitor(drain);
  self->monitor(worker);
  self->monitor(source);
}

void evaluator_state::send_home() {
  const auto home = [](auto& handle) {
    if (handle)
      caf::anon_send_exit(handle, caf::exit_reason::user_shutdown);
    handle = nullptr;
  };
  home(source);
  home(worker);
  home(drain);
}

void evaluator_state::extend(int64_t reached) {
  const int64_t end = options.steps.value_or(INT64_MAX);
  until = std::min(end, reached + ahead_max);
  self->send(source, run{attempt, until, {}});
  self->send(worker, run{attempt, until, {}});
  self->delayed_send(self, options.silence_max, deadline{++waits});
}

void evaluator_state::on_progress(const progress& x) {
  if (!running || x.attempt != attempt)
    return;
  for (const auto& step : x.watched)
    totals->add(step.values);
  if (options.steps && x.step >= *options.steps)
    finish({});
  else if (x.step + ahead_max / 2 >= until)
    extend(x.step);
  else
    self->delayed_send(self, options.silence_max, deadline{++waits});
}

void evaluator_state::on_end(const stream_end& x) {
  if (!running || x.attempt != attempt)
    return;
  if (x.cause.category == errc::out_of_range && totals->batches() == 0)
    finish(error{errc::out_of_range, "the dataset of the evaluation has no batches", {}, x.cause.source});
  else if (x.cause.category == errc::out_of_range)
    finish({});
  else
    finish(x.cause);
}

void evaluator_state::finish(std::optional<error> cause) {
  running = false;
  lease.reset();
  ++waits;
  evaluated result{current.attempt, at_step, !cause, {}, totals->batches()};
  if (cause) {
    if (cause->source.empty())
      cause->source = options.name;
    result.cause = std::move(*cause);
  } else {
    result.metrics = totals->results();
    result.metrics["global_step"] = static_cast<double>(at_step);
  }
  result.seconds = std::chrono::duration<double>(self->clock().now() - started).count();
  result.checkpoint = current.prefix;
  self->send(caf::actor_cast<caf::typed_actor<caf::reacts_to<evaluated>>>(asker), std::move(result));
}

evaluator_actor::behavior_type evaluator(evaluator_actor::stateful_pointer<evaluator_state> self, evaluator_options options,
                                         caf::strong_actor_ptr asker) {
  auto& state = self->state;
  state.self = self;
  state.options = std::move(options);
  state.asker = std::move(asker);
  self->set_down_handler([&state](const caf::down_msg& x) {
    const auto is = [&x](const auto& handle) { return handle && handle->address() == x.source; };
    if (!is(state.source) && !is(state.worker) && !is(state.drain))
      return;
    state.send_home();
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
    [&state](const deadline& x) {
      if (state.running && x.number == state.waits)
        state.finish(error{errc::deadline_exceeded, "no batch was evaluated within "
                             + std::to_string(state.options.silence_max.count() / 1000) + " s, waiting for the replica",
                           {}, state.options.name});
    },
  };
}

}  // namespace troupe
