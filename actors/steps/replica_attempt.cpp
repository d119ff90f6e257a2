// The attempts of a replica: the state at which an attempt begins, its beginning and its end.
#include "actors/steps/replica.hpp"
#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <stdexcept>

namespace troupe {

/// The owner of the store writes it for all replicas of the group. Drops a part of an attempt that has begun, since its
/// replicas use the store, or that was halted, since the store then belongs to a later attempt.
void replica_state::on_state_part(const state_part& x) {
  if (x.attempt <= std::max(attempt, halted_attempt))
    return;
  if (x.initial)
    options.engine->initialise(x.seed);
  for (const auto& piece : x.pieces)
    if (planted(planted_fault::part_skipped) && &piece == &x.pieces.front())
      continue;
    else if (auto written = options.engine->assign(piece.name, piece.first, piece.elements); !written)
      throw std::runtime_error{to_text(written.error())};  // The sender has compared all layouts before.
  self->send(caf::actor_cast<state_source_actor>(self->current_sender()), state_taken{x.attempt, x.number});
}

void replica_state::on_begin(const begin& x) {
  if (x.attempt <= attempt)
    return;
  attempt = x.attempt;
  step = until = began_at = x.step;
  marks.clear();
  rates.clear();
  options.engine->scale_rate(x.rate_factor);
  loops.begin(options.mode == mode::train ? x.loop : loop_span{x.step});
  current = 0;
  lent[0] = lent[1] = std::nullopt;
  last_part = last_watch = switches_at = std::nullopt;
  waiting = wait::none;
  readings.clear();
  if (seat)
    seat->begin(attempt, self->address());
  pending = {};
  has_values = has_records = has_observed = false;
  options.engine->take_measured();  // Drops those of an earlier attempt.
  feeds.clear();
  begun = true;
  ended = stopping = false;
  said.reset();
  for (auto& p : ports) {
    if (planted(planted_fault::old_block_kept) && !p.blocks.empty() && p.blocks.front().step <= step
        && step < p.arrived)
      continue;
    p.blocks.clear();
    p.end.reset();
    p.arrived = p.granted = step;
    p.told_steps = 0;
    p.left_at.reset();
  }
  retires_at.reset();
  calls.room = calls.sent = 0;
  calls.left = false;
  options.engine->take_called();  // Drops that of a step which was not applied.
  filled_steps = 0;
  for (auto& out : outs) {
    out.memory.reset();
    for (auto& r : out.readers) {
      r.credit = step;
      r.left = false;
    }
  }
  give_credit(credit_rule::always);
  early.hand_over(attempt,
                  each_of{[this](const block& b) { on_block(b); }, [this](const end_of_data& end) { on_end(end); },
                          [this](const pull& credit) { on_pull(credit); }});
}

/// No replica has made that step: the horizon does not pass it before all replicas have received this message.
void replica_state::on_scale_rate(const scale_rate& x) {
  if (x.attempt == attempt)
    rates[x.step] = x.factor;
}

void replica_state::on_set_loop(const set_loop& x) {
  if (x.attempt == attempt)
    loops.add(x.loop);
}

void replica_state::on_stop(const stop& x) {
  if (x.attempt != attempt || !begun)
    return;
  stopping = true;
  advance();
}

void replica_state::on_halt(const halt& x) {
  if (x.attempt < attempt)
    return;
  ended = true;
  halted_attempt = x.attempt;
  readings.clear();
  // From here on the owners of the stores write the arenas: a sum that is still on its way is not applied.
  waiting = wait::none;
  if (seat)
    seat->leave();
  if (peers.parts)
    self->send(peers.parts, gone{x.attempt, options.id});
  if (planted(planted_fault::lost_halted))
    return;
  self->send(caf::actor_cast<halted_sink_actor>(self->current_sender()), halted{x.attempt, options.id});
}

}  // namespace troupe
