#include "actors/steps/replica.hpp"

#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <stdexcept>

namespace troupe {

// -- what it is told -------------------------------------------------------------------

void replica_state::on_run(const run& x) {
  if (x.attempt != attempt || !begun)
    return;
  for (const auto& m : x.marks)
    if (m.step >= step)
      marks[m.step] |= m.kinds;
  until = std::max(until, x.until + (planted(planted_fault::step_beyond_horizon) ? 1 : 0));
  if (waiting == wait::none && !ended)
    reach();
  advance();
}

void replica_state::on_block(const block& x) {
  if (early.keep(attempt, x) || (x.attempt != attempt && !planted(planted_fault::old_block_accepted)))
    return;
  for (auto& p : ports)
    if (p.edge == x.edge && x.step == p.arrived) {
      p.arrived += x.count;
      p.batch_bytes = 0;
      for (const auto& c : x.components)
        p.batch_bytes += c.byte_size() / x.count;
      p.blocks.push_back(x);
    }
  advance();
}

void replica_state::on_end(const end_of_data& x) {
  if (early.keep(attempt, x) || x.attempt != attempt)
    return;
  for (auto& p : ports)
    if (p.edge == x.edge)
      p.end = x;
  advance();
}

void replica_state::on_sum(const gradient_sum& x) {
  if (x.attempt != attempt || x.step != step || waiting != wait::sum)
    return;
  if (const auto status = x.status; status != step_status::ok) {
    waiting = wait::none;
    return stop_at(status, x.cause);
  }
  apply(x.gradient);
  waiting = wait::applied;
  self->send(peers.reducer, applied{attempt, step, options.index});
}

void replica_state::on_all_applied(const all_applied& x) {
  if (x.attempt != attempt || x.step != step || waiting != wait::applied)
    return;
  waiting = wait::none;
  finish_step();
  advance();
}

void replica_state::on_released(const released& x) {
  if (x.attempt != attempt)
    return;
  for (auto& holder : lent)
    if (holder && holder->step == x.step && --holder->parts == 0)
      holder.reset();
  advance();
}

// -- the firing rule -------------------------------------------------------------------

bool replica_state::can_fire() const {
  if (!begun || ended || waiting != wait::none || until <= step)
    return false;
  for (const auto& p : ports)
    if (!p.has_left(step) && p.arrived <= step && !(p.end && p.end->first_missing_step <= step) && !stopping)
      return false;
  return (leading() || stopping) && has_room() && (!trains() || !lent[moves() ? 1 - current : current]);
}

bool replica_state::moves() const {
  // Decided by the mark and not by which arenas are lent: releases reach replicas at different times, and all replicas
  // must write to the same arena.
  return moves_at == step && options.engine->arenas() > 1;
}

void replica_state::advance() {
  const int64_t turn_end = step + block_steps;
  while (can_fire()) {
    fire();
    if (step >= turn_end) {
      self->send(self, proceed{attempt});
      break;
    }
  }
  if (waiting == wait::none)
    send_exposed();  // A replica that cannot go on sends what it has kept.
}

const end_of_data* replica_state::earliest_end() const {
  const end_of_data* first = nullptr;
  for (const auto& p : ports)
    if (p.end && p.end->first_missing_step <= step && (!first || p.end->first_missing_step < first->first_missing_step))
      first = &*p.end;
  return first;
}

void replica_state::fire() {
  if (planted(planted_fault::ends) && ends_here(options.name, step))
    throw std::runtime_error("a planted end: " + options.name + "@" + std::to_string(step));
  if (pending.losses.empty())
    pending_since = self->clock().now();
  auto status = step_status::ok;
  error cause;
  auto& engine = *options.engine;
  const auto* end = earliest_end();
  if (stopping && (!end || end->kind != end_kind::data)) {
    status = step_status::ended | step_status::stopped;
    cause = error{errc::cancelled, "the job was stopped"};
  } else if (end) {
    status = end->kind == end_kind::failed    ? step_status::bad_input
             : end->kind == end_kind::stopped ? step_status::ended | step_status::stopped
                                              : step_status::ended;
    cause = end->cause;
  } else if (auto looked = feeds.empty() ? look_at_blocks() : expected<void>{}; !looked) {
    status = step_status::bad_input;
    cause = looked.error();
  } else {
    const auto next = marks.find(step + 1);
    const uint8_t due = options.mode == mode::train && next != marks.end() ? next->second : uint8_t{0};
    has_records = (due & mark_summary) != 0;
    has_observed = (due & mark_observe) != 0;
    const int64_t rows = leading()->blocks.front().rows;
    const batch_feeds in{feeds, rows, has_records, has_observed, measures(), exposed};
    status = !expose(rows)                  ? step_status::bad_input
             : options.mode != mode::train ? engine.evaluate(step, in, current)
             : trains()                    ? engine.gradients(step, in, current)
                                           : engine.expose(step, in, current);
    // With several replicas, the reducer checks the sum, once. A replica that has to find the origin checks its own
    // part.
    const bool looks = trains() && (options.replicas == 1 || options.debug_numerics);
    if (status == step_status::ok && looks && !engine.finite(engine.gradient())) {
      status = step_status::not_finite;
      cause = error{errc::nan_loss, "the gradient is not finite"};
      explain(cause, in);
    } else if (has(status, step_status::not_finite)) {
      cause = error{errc::nan_loss, "the loss is not finite"};
      explain(cause, in);
    } else if (has(status, step_status::cancelled)) {
      cause = error{errc::cancelled, "the step was cancelled"};
    } else if (status != step_status::ok) {
      cause = std::any_of(exposed.begin(), exposed.end(), [](auto* at) { return at == nullptr; })
                ? error{errc::resource_exhausted, "no memory for what others are to read of this step"}
                : engine.last_error();
    }
    has_values = status == step_status::ok;
  }
  if (status != step_status::ok) {
    if (cause.source.empty())
      cause.source = options.name;
    cause.step = step;
  }
  target = trains() && moves() ? 1 - current : current;
  if (options.replicas > 1 && trains()) {
    waiting = wait::sum;
    self->send(peers.reducer, gradient_part{attempt, step, options.index, status,
                                            status == step_status::ok ? engine.gradient() : tensor{}, cause});
    if (planted(planted_fault::gradient_ahead))
      self->send(peers.reducer, gradient_part{attempt, step + 1, options.index, step_status::ok, tensor{}, {}});
    return;
  }
  if (status != step_status::ok)
    return stop_at(status, std::move(cause));
  if (trains())
    apply(engine.gradient());
  finish_step();
}

void replica_state::apply(const tensor& sum) {
  for (; !rates.empty() && rates.begin()->first <= step; rates.erase(rates.begin()))
    options.engine->scale_rate(rates.begin()->second);
  options.engine->apply(step, sum, current, target);
}

expected<void> replica_state::look_at_blocks() {
  strides.clear();
  feeds.clear();
  const auto& first = leading()->blocks.front();
  for (size_t i = 0; i < ports.size(); ++i) {
    auto& p = ports[i];
    if (p.has_left(step)) {
      for (const int64_t row : options.in_edges[i].row_bytes) {
        strides.push_back(0);
        feeds.push_back(zeros_of(first.rows * row));
        if (!feeds.back())
          return fail(errc::resource_exhausted, "no memory for the zeros in place of a source that has left");
      }
      continue;
    }
    const auto& b = p.blocks.front();
    if (b.rows != first.rows)
      return fail(errc::invalid_argument, "edge " + std::to_string(index_of(p.edge)) + " brought " + std::to_string(b.rows) + " rows for step "
                                            + std::to_string(step) + ", and edge " + std::to_string(index_of(leading()->edge)) + " brought "
                                            + std::to_string(first.rows));
    for (const auto& c : b.components) {
      strides.push_back(c.byte_size() / b.count);
      const int64_t row_bytes = strides.back() / c.dims()[1];
      feeds.push_back(c.data() + (step - b.step) * strides.back() + b.first_row * row_bytes);
    }
  }
  return {};
}

void replica_state::finish_step() {
  current = target;
  keep_exposed();
  if (pending.losses.empty())
    pending.step = step;
  pending.losses.push_back(options.engine->loss());
  if (options.mode != mode::train)
    pending.watched.push_back({step, options.engine->values()});
  ++step;
  if (options.measure != measuring::never && options.log_every > 0 && step % options.log_every == 0)
    if (auto sums = options.engine->take_measured(); !sums.empty())
      pending.measured.push_back({step, std::move(sums)});
  for (size_t c = 0; c < feeds.size(); ++c)
    feeds[c] += strides[c];
  bool block_done = false;
  for (auto& p : ports)
    if (!p.blocks.empty() && step >= p.blocks.front().step + p.blocks.front().count) {
      p.blocks.pop_front();
      feeds.clear();
      block_done = true;
    }
  const mark_kinds kinds = take_marks();
  collect(kinds);
  serve(kinds);
  if (block_done || kinds != 0)
    send_report();
  if (block_done)
    give_credit(false);
}

void replica_state::reach() {
  const mark_kinds kinds = take_marks();
  if (kinds == 0)
    return;
  collect(kinds);
  serve(kinds);
  send_report();
}

uint8_t replica_state::take_marks() {
  while (!marks.empty() && marks.begin()->first < step)
    marks.erase(marks.begin());
  if (marks.empty() || marks.begin()->first != step)
    return 0;
  const mark_kinds kinds = marks.begin()->second;
  marks.erase(marks.begin());
  return kinds;
}

void replica_state::collect(mark_kinds kinds) {
  if ((kinds & mark_summary) != 0 && std::exchange(has_records, false))
    pending.recorded.push_back({step, options.engine->recorded(current)});
  if ((kinds & mark_watch) != 0 && last_watch != step) {
    last_watch = step;
    if (pending.losses.empty())
      pending.step = step;
    step_values seen{step};
    if (has_values || options.mode != mode::train)
      seen.values = options.engine->values();
    if (std::exchange(has_observed, false))
      seen.observed = options.engine->observed();
    pending.watched.push_back(std::move(seen));
  }
}

/// Called before the report: once a state has been reported, the checkpoint writer has the parts of all replicas for
/// it.
void replica_state::serve(mark_kinds kinds) {
  if ((kinds & mark_snapshot) != 0)
    lend();
  if ((kinds & mark_show) != 0 && peers.parts)
    send_part(true);
  if ((kinds & mark_end) != 0)
    ended = true;
}

replica_actor::behavior_type replica(replica_actor::stateful_pointer<replica_state> self, replica_options options) {
  auto& state = self->state;
  state.self = self;
  for (const auto& edge : options.in_edges)
    state.ports.push_back({.edge = edge.id});
  for (size_t c = 0; c < options.out_edges.size(); ++c) {
    auto& out = state.outs.emplace_back();
    out.what = options.engine->exposed()[c];
    for (const auto edge : options.out_edges[c])
      out.readers.push_back({.edge = edge});
  }
  state.exposed.resize(state.outs.size());
  state.options = std::move(options);
  return {
    [&state](const block& x) { state.on_block(x); },
    [&state](const end_of_data& x) { state.on_end(x); },
    [&state](const begin& x) { state.on_begin(x); },
    [&state](const run& x) { state.on_run(x); },
    [&state](const connect_source& x) {
      for (auto& p : state.ports)
        if (p.edge == x.edge)
          p.source = x.source;
      if (state.begun)
        state.give_credit(true);
    },
    [&state](const connect_reader& x) {
      for (auto& out : state.outs)
        for (auto& r : out.readers)
          if (r.edge == x.edge)
            r.sink = x.reader;
      if (!state.ended)
        state.advance();
    },
    [&state](const connect_parts& x) {
      state.peers.parts = x.writer;
      // A replica at its end sends no further part by itself, and its last part was lost with the old writer.
      const bool again = state.ended && state.last_part == state.step;
      state.lent[0] = state.lent[1] = std::nullopt;
      state.last_part.reset();
      if (again)
        state.lend();
      state.advance();
    },
    [&state](const connect_reducer& x) { state.peers.reducer = x.reducer; },
    [&state](const connect_reports& x) {
      state.peers.outfeed = x.sink;
      if (state.said)
        state.self->send(state.peers.outfeed, *state.said);
    },
    [&state](const pull& x) { state.on_pull(x); },
    [&state](const leave& x) { state.on_leave(x); },
    [&state](const retire& x) { state.on_retire(x); },
    [&state](const scale_rate& x) { state.on_scale_rate(x); },
    [&state](const stop& x) { state.on_stop(x); },
    [&state](const halt& x) { state.on_halt(x); },
    [&state](const probe& x) {
      int64_t received = INT64_MAX;
      for (const auto& p : state.ports)
        received = std::min(received, p.arrived);
      const int64_t computed = state.step + (state.waiting == replica_state::wait::none ? 0 : 1);
      state.self->send(caf::actor_cast<standing_sink_actor>(state.self->current_sender()),
                       standing{x.number, state.options.name,
                                {{"received", received}, {"granted", state.until}, {"computed", computed}, {"applied", state.step}}});
    },
    [&state](const gradient_sum& x) { state.on_sum(x); },
    [&state](const all_applied& x) { state.on_all_applied(x); },
    [&state](const released& x) { state.on_released(x); },
    [&state](const state_part& x) { state.on_state_part(x); },
    [&state](const proceed& x) {
      if (x.attempt == state.attempt)
        state.advance();
    },
  };
}

}  // namespace troupe
