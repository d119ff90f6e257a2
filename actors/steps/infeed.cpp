#include "actors/steps/infeed.hpp"

#include "messages/counted.hpp"
#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

void infeed_state::on_begin(const begin& x) {
  if (x.attempt <= attempt)
    return;
  attempt = x.attempt;
  step = until = x.step;
  marks.clear();
  positions.clear();
  unsaved.reset();
  last_part.reset();
  for (auto& r : readers) {
    r.applied = x.step;
    r.block_steps = 1;
    r.credit = planted(planted_fault::credit_granted_twice) ? std::max(r.credit, x.step) : x.step;
    r.left = false;
  }
  retires_at.reset();
  begun = true;
  ended = broken = false;
  stopping = options.stop->token();
  cut_off.reset();
  proceeds = false;
  source.reset();  // Reset before the next source is opened, so that two are never in memory.
  const bool old = planted(planted_fault::old_positions) && !sent.blobs.empty();
  if (auto opened = begin_at(old ? sent.blobs.begin()->second : x.position); !opened) {
    broken = true;
    end(opened.error());
  }
  early.hand_over(attempt, [this](const pull& credit) { on_pull(credit); });
}

void infeed_state::on_run(const run& x) {
  if (x.attempt != attempt || !begun)
    return;
  for (const auto& m : x.marks)
    if (m.step >= step)
      marks[m.step] |= m.kinds;
  until = std::max(until, options.share.below(x.until) + (planted(planted_fault::step_beyond_horizon) ? 1 : 0));
  if (!ended)
    if (auto saved = reach(); !saved) {
      broken = true;
      end(saved.error());
    }
  advance();
}

void infeed_state::on_pull(const pull& x) {
  if (early.keep(attempt, x) || x.attempt != attempt)
    return;
  int64_t applied = INT64_MAX;
  for (auto& r : readers) {
    if (r.edge.id == x.edge) {
      r.credit = std::max(r.credit, x.until_step);
      r.applied = std::max(r.applied, x.applied_step);
      r.block_steps = std::max<int64_t>(1, x.block_steps);
    }
    if (!r.left)
      applied = std::min(applied, r.applied);
  }
  while (positions.size() > 1 && positions[1].first <= applied)
    positions.pop_front();
  advance();
}

/// Reads one block now, and the next one after all messages in the mailbox. Each block causes answers: if every answer
/// led to another read, a slow input would accumulate them.
void infeed_state::advance() {
  if (!begun || ended || proceeds)
    return;
  if (rests())
    return pass_marks();
  const int64_t count = steps_of_block();
  if (count == 0)
    return;
  read_block(count);
  if (ended || proceeds)
    return;
  if (rests())
    pass_marks();
  else if (steps_of_block() > 0)
    proceed_later();
}

wait_cause infeed_state::waits_for() const {
  return begun && !ended && step < read_up_to(until) ? wait_cause::room : wait_cause::horizon;
}

void infeed_state::proceed_later() {
  proceeds = true;
  self->send(self, proceed{attempt});
}

void infeed_state::end(error cause, end_kind kind) {
  if (std::exchange(ended, true))
    return;
  if (cause.source.empty())
    cause.source = options.name;
  if (!cause.step)
    cause.step = options.share.number_of(step);
  const bool lost = planted(planted_fault::end_of_data_lost) && kind == end_kind::data;
  for (size_t r = 0; r < readers.size() - (lost ? 1 : 0); ++r)
    if (!readers[r].left)
      self->send(readers[r].sink,
                 end_of_data{attempt, readers[r].edge.id, options.deals ? dealt_to(r).below(step) : step, cause, kind});
  if (kind == end_kind::failed)
    tell_failure(std::move(cause), step);
}

void infeed_state::tell_failure(error cause, int64_t at) {
  if (cause.source.empty())
    cause.source = options.name;
  if (!cause.step)
    cause.step = at;
  if (listener)
    self->send(listener, input_failed{attempt, options.id, at, std::move(cause)});
}

void infeed_state::on_halt(const halt& x) {
  if (x.attempt < attempt)
    return;
  ended = true;
  cut_off.reset();
  marks.clear();
  if (parts)
    self->send(parts, gone{x.attempt, options.id});
  self->send(caf::actor_cast<halted_sink_actor>(self->current_sender()), halted{x.attempt, options.id});
}

void infeed_state::on_stop(const stop& x) {
  if (x.attempt != attempt || !begun || ended || !options.own_of.empty())
    return;
  cut_off.reset();
  end(error{errc::cancelled, "the job was stopped"}, end_kind::stopped);
}

void infeed_state::on_leave(const leave& x) {
  for (auto& r : readers)
    if (r.edge.id == x.edge && x.attempt == attempt)
      r.left = true;
  // Nobody reads the data of a group that has left, so these may not end.
  if (!options.own_of.empty() && std::all_of(readers.begin(), readers.end(), [](const reader& r) { return r.left; }))
    retires_at = read_up_to(step);
  advance();
}

void infeed_state::on_retire(const retire& x) {
  if (x.attempt != attempt || !begun)
    return;
  retires_at = x.step;
  advance();
}

infeed_actor::behavior_type infeed(infeed_actor::stateful_pointer<infeed_state> self, infeed_options options,
                                   input_listener_actor listener) {
  auto& state = self->state;
  state.self = self;
  for (const auto& e : options.edges)
    state.readers.push_back({e, {}, 0, 0});
  state.options = std::move(options);
  state.listener = std::move(listener);
  return counted<infeed_actor>(
      state, [&state](const pull& x) { state.on_pull(x); }, [&state](const begin& x) { state.on_begin(x); },
      [&state](const run& x) { state.on_run(x); }, [&state](const rewind& x) { state.on_rewind(x); },
      [&state](const halt& x) { state.on_halt(x); }, [&state](const stop& x) { state.on_stop(x); },
      [&state](const leave& x) { state.on_leave(x); }, [&state](const retire& x) { state.on_retire(x); },
      [&state](const probe& x) {
        int64_t credit = INT64_MAX;
        for (const auto& r : state.readers)
          credit = std::min(credit, r.credit);
        tell_standing(state, x, {{"sent", state.step}, {"granted", state.until}, {"asked for", credit}});
      },
      [&state](const connect_reader& x) {
        for (auto& r : state.readers)
          if (r.edge.id == x.edge)
            r.sink = x.reader;
        state.advance();
      },
      [&state](const connect_parts& x) {
        state.parts = x.writer;
        // An infeed whose data have ended sends no further part by itself, and its last part was lost with the old
        // writer.
        if (state.ended && state.last_part && state.parts)
          state.self->send(state.parts, state.sent);
        else
          state.last_part.reset();
      },
      [&state](const proceed& x) {
        if (x.attempt != state.attempt)
          return;
        state.proceeds = false;
        if (auto cause = std::exchange(state.cut_off, std::nullopt))
          return state.end(std::move(*cause));
        state.advance();
      });
}

}  // namespace troupe
