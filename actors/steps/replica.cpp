#include "actors/steps/replica.hpp"

#include "messages/counted.hpp"
#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

// -- messages --------------------------------------------------------------------------

void replica_state::on_run(const run& x) {
  if (x.attempt != attempt || !begun)
    return;
  for (const auto& m : x.marks)
    if (m.step >= step)
      marks[m.step] |= m.kinds;
  until = std::max(until, options.share.below(x.until) + (planted(planted_fault::step_beyond_horizon) ? 1 : 0));
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

void replica_state::on_released(const released& x) {
  if (x.attempt != attempt)
    return;
  for (auto& holder : lent)
    if (holder && holder->step == x.step && --holder->parts == 0)
      holder.reset();
  advance();
}

// -- the firing rule -------------------------------------------------------------------

bool replica_state::has_batch(const in_port& p) const {
  return p.has_left(step) || p.arrived > step || (p.end && p.end->first_missing_step <= step) || stopping;
}

bool replica_state::can_fire() const {
  if (!begun || ended || waiting != wait::none || until <= step)
    return false;
  for (const auto& p : ports)
    if (!has_batch(p))
      return false;
  return (leading() || stopping) && has_room() && has_room_for_calls()
         && (trains() ? !lent[switches_arenas() ? 1 - current : current] : !(lent[current] && lent[current]->carried));
}

/// In the order in which `can_fire` looks.
wait_cause replica_state::waits_for() const {
  if (waiting != wait::none)
    return wait_cause::peers;
  if (!begun || ended || until <= step)
    return wait_cause::horizon;
  if (!std::all_of(ports.begin(), ports.end(), [this](const in_port& p) { return has_batch(p); }))
    return wait_cause::input;
  return has_room() && has_room_for_calls() ? wait_cause::arena : wait_cause::room;
}

int64_t replica_state::queued() const {
  int64_t batches = 0;
  for (const auto& p : ports)
    batches = std::max(batches, p.arrived - step);
  return batches;
}

bool replica_state::switches_arenas() const {
  // Decided by the mark, not by which arenas are lent: releases reach replicas at different times, but all replicas
  // must write to the same arena.
  return switches_at == step && options.engine->arenas() > 1;
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
    send_exposed();  // A replica that cannot continue sends the outputs that it has kept.
  if (options.reports_when_waiting)
    send_report();
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
  if (options.collective) {
    state.seat.emplace(options.collective, options.index, options.looks);
    options.engine->share_squares(options.collective->squares());
  }
  state.options = std::move(options);
  return counted<replica_actor>(
      state, [&state](const block& x) { state.on_block(x); }, [&state](const end_of_data& x) { state.on_end(x); },
      [&state](const begin& x) { state.on_begin(x); }, [&state](const run& x) { state.on_run(x); },
      [&state](const connect_source& x) {
        for (auto& p : state.ports)
          if (p.edge == x.edge)
            p.source = x.source;
        if (state.begun)
          state.give_credit(credit_rule::always);
      },
      [&state](const connect_reader& x) {
        if (state.options.calls == x.edge)
          state.calls.sink = x.reader;
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
      [&state](const pull& x) { state.on_pull(x); }, [&state](const leave& x) { state.on_leave(x); },
      [&state](const retire& x) { state.on_retire(x); }, [&state](const set_loop& x) { state.on_set_loop(x); },
      [&state](const scale_rate& x) { state.on_scale_rate(x); }, [&state](const stop& x) { state.on_stop(x); },
      [&state](const halt& x) { state.on_halt(x); },
      [&state](const probe& x) {
        int64_t received = INT64_MAX;
        for (const auto& p : state.ports)
          received = std::min(received, p.arrived);
        const int64_t computed = state.step + (state.waiting == replica_state::wait::none ? 0 : 1);
        tell_standing(
            state, x,
            {{"received", received}, {"granted", state.until}, {"computed", computed}, {"applied", state.step}});
      },
      [&state](const read_variables& x) { state.on_read_variables(x); }, [&state](const wake& x) { state.on_wake(x); },
      [&state](const gradient_sum& x) { state.on_sum(x); }, [&state](const all_applied& x) { state.on_all_applied(x); },
      [&state](const released& x) { state.on_released(x); }, [&state](const state_part& x) { state.on_state_part(x); },
      [&state](const proceed& x) {
        if (x.attempt == state.attempt)
          state.advance();
      });
}

}  // namespace troupe
