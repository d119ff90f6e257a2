#include "actors/steps/infeed.hpp"

#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <stdexcept>

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
    r.credit = planted(planted_fault::credit_granted_twice) ? std::max(r.credit, x.step) : x.step;
    r.left = false;
  }
  begun = true;
  ended = broken = false;
  stopping = options.stop->token();
  cut_off.reset();
  proceeds = false;
  source.reset();  // Before the next one is opened, so that not two are in memory.
  const auto& from = planted(planted_fault::old_positions) && !sent.blobs.empty() ? sent.blobs : x.positions;
  const auto position = from.find(options.position);
  if (auto opened = open_at(position == from.end() ? nullptr : &position->second); !opened) {
    broken = true;
    end(opened.error());
  }
  early.hand_over(attempt, [this](const pull& credit) { on_pull(credit); });
}

expected<void> infeed_state::open_at(const std::string* position) {
  auto opened = options.open();
  if (!opened)
    return fail(opened.error());
  source = std::move(*opened);
  row_bytes.clear();
  parts_of_row = source->spec().components();
  for (const auto& c : parts_of_row)
    row_bytes.push_back(c.row_bytes());
  pools.resize(row_bytes.size());
  if (!position)
    return {};
  if (auto there = source->restore(*position); !there)
    return there;
  for (auto& text : source->warnings())
    if (listener && told.insert(text).second)
      self->send(listener, input_warned{attempt, options.id, std::move(text)});
  return {};
}

void infeed_state::on_run(const run& x) {
  if (x.attempt != attempt || !begun)
    return;
  for (const auto& m : x.marks)
    if (m.step >= step)
      marks[m.step] |= m.kinds;
  until = std::max(until, x.until + (planted(planted_fault::step_beyond_horizon) ? 1 : 0));
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
    }
    if (!r.left)
      applied = std::min(applied, r.applied);
  }
  block_steps = std::max<int64_t>(1, x.block_steps);
  while (positions.size() > 1 && positions[1].first <= applied)
    positions.pop_front();
  advance();
}

/// Reads one block, and the next one after all messages that are waiting. Each block has answers: were each of them another
/// reason to read, a slow input would have more and more of them.
void infeed_state::advance() {
  if (!begun || ended || proceeds)
    return;
  int64_t limit = until;
  for (const auto& r : readers)
    if (!r.left)
      limit = std::min(limit, r.sink ? r.credit : step);
  if (step >= limit)
    return;
  read_block(std::min(limit - step, block_steps));
  if (!ended && !proceeds && step < limit)
    proceed_later();
}

void infeed_state::proceed_later() {
  proceeds = true;
  self->send(self, proceed{attempt});
}

expected<int64_t> infeed_state::read_step(const std::vector<std::byte*>& into, const std::stop_token& stop) {
  if (planted(planted_fault::ends) && ends_here(options.name, step))
    throw std::runtime_error("a planted end: " + options.name + "@" + std::to_string(step));
  if (planted(planted_fault::ends) && ends_here(options.name + ".reads", step))
    return fail(errc::unavailable, "a planted end: " + options.name + ".reads@" + std::to_string(step));
  if (options.batches_per_step == 1)
    return source->read(into, stop);
  auto at = into;
  for (int64_t batch = 0; batch < options.batches_per_step; ++batch) {
    auto rows = source->read(at, stop);
    if (rows && *rows != source->batch_rows())
      rows = fail(errc::out_of_range, "a partial batch is no whole one for each of " + std::to_string(options.batches_per_step) + " replicas");
    if (!rows) {
      broken = broken || batch > 0;  // The batches read for this step have to be read again.
      return rows;
    }
    for (size_t c = 0; c < at.size(); ++c)
      at[c] += *rows * row_bytes[c];
  }
  return rows_of_step();
}

void infeed_state::read_block(int64_t count) {
  const int64_t rows_max = rows_of_step();
  int64_t batch_bytes = 0;
  for (int64_t b : row_bytes)
    batch_bytes += b * rows_max;
  count = std::clamp(options.block_bytes_max / std::max<int64_t>(batch_bytes, 1), int64_t{1}, count);
  // A block ends at a snapshot mark, so that the failure to save an iterator there follows all earlier batches.
  for (const auto& [at, kinds] : marks)
    if (at > step && (kinds & mark_snapshot) != 0)
      count = std::min(count, at - step);

  std::vector<std::shared_ptr<std::byte>> memory;
  for (size_t c = 0; c < row_bytes.size(); ++c) {
    memory.push_back(pools[c].take(count * rows_max * row_bytes[c]));
    if (!memory.back())
      return end(error{errc::resource_exhausted, "no memory for " + std::to_string(count) + " batches of "
                                                   + std::to_string(batch_bytes) + " bytes"});
  }
  if (auto position = source->save())
    positions.emplace_back(step, std::move(*position));
  else
    unsaved = std::move(position.error());

  const int64_t first = step;
  const auto began = self->clock().now();
  std::vector<std::byte*> into(memory.size());
  for (int64_t i = 0; i < count; ++i) {
    const bool cancelled = stopping.stop_requested();
    if (i > 0 && (cancelled || self->clock().now() - began >= options.block_time_max)) {
      count = i;  // A slow input delivers the first batch without the others.
      break;
    }
    for (size_t c = 0; c < into.size(); ++c)
      into[c] = memory[c].get() + i * rows_max * row_bytes[c];
    auto rows = cancelled ? expected<int64_t>{fail(errc::cancelled, "reading was cancelled")} : read_step(into, stopping);
    if (!rows || *rows != rows_max) {
      if (i > 0)
        send_block(first, i, rows_max, memory);
      if (!rows) {
        const bool data_ended = rows.error().category == errc::out_of_range;  // As dataset_iterator::read reports it.
        broken = broken || !data_ended;
        if (options.ends_steps && rows.error().category == errc::cancelled && !ended) {
          cut_off = rows.error();  // If a stop is the cause, it is in the mailbox already.
          return proceed_later();
        }
        return end(rows.error(), data_ended ? end_kind::data : end_kind::failed);
      }
      if (ended)
        return;
      // A partial batch is another binding of the program, so it travels alone.
      std::vector<std::shared_ptr<std::byte>> alone;
      for (size_t c = 0; c < into.size(); ++c) {
        alone.push_back(pools[c].take(*rows * row_bytes[c]));
        if (!alone.back())
          return end(error{errc::resource_exhausted, "no memory for a partial batch"});
        std::copy_n(into[c], *rows * row_bytes[c], alone.back().get());
      }
      return hand_over(step++, 1, *rows, alone);
    }
    ++step;
  }
  hand_over(first, count, rows_max, memory);
}

/// The part is sent before the block: once a state has been reported, the checkpoint writer has the parts of all
/// infeeds for it.
void infeed_state::hand_over(int64_t first, int64_t count, int64_t rows, const std::vector<std::shared_ptr<std::byte>>& memory) {
  auto saved = reach();
  send_block(first, count, rows, memory);
  if (!saved) {
    broken = true;
    end(saved.error());
  }
}

void infeed_state::send_block(int64_t first, int64_t count, int64_t rows,
                              const std::vector<std::shared_ptr<std::byte>>& memory) {
  for (const auto& r : readers)
    if (rows % r.edge.parts != 0) {
      step = first;  // None of these batches is sent, so the first of them is the first missing step.
      return end(error{errc::invalid_argument, "a batch of " + std::to_string(rows) + " rows cannot be split evenly among "
                                                 + std::to_string(r.edge.parts) + " replicas"});
    }
  std::vector<tensor> components;
  size_t c = 0;
  for (const auto& part : parts_of_row)
    components.emplace_back(part.type, part.dims.prepend(rows).prepend(count), memory[c++]);
  for (auto& r : readers) {
    if (r.left)
      continue;
    const int64_t share = rows / r.edge.parts;
    self->send(r.sink, block{attempt, r.edge.id, first, count, share * r.edge.part, share, components});
  }
}

void infeed_state::end(error cause, end_kind kind) {
  if (std::exchange(ended, true))
    return;
  if (cause.source.empty())
    cause.source = options.name;
  if (!cause.step)
    cause.step = step;
  for (auto& r : readers)
    if (!r.left)
      self->send(r.sink, end_of_data{attempt, r.edge.id, step, cause, kind});
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

expected<void> infeed_state::reach() {
  const auto m = marks.find(step);
  if (m == marks.end() || ended)
    return {};
  const mark_kinds kinds = m->second;
  marks.erase(marks.begin(), std::next(m));
  if ((kinds & mark_snapshot) == 0)
    return {};
  auto position = source->save();
  if (!position)
    return fail(position.error());  // A checkpoint was requested, and this dataset cannot save its position.
  send_part(step, std::move(*position));
  return {};
}

void infeed_state::send_part(int64_t at, std::string position) {
  if (!parts || last_part == at)
    return;
  last_part = at;
  sent = {attempt, at, options.id};
  sent.blobs[options.position] = std::move(position);
  self->send(parts, sent);
}

void infeed_state::on_rewind(const rewind& x) {
  if (x.attempt != attempt || !source || x.step > step)
    return;
  ended = true;
  marks.clear();
  if (!parts)
    return;
  auto position = x.step == step && !broken ? source->save() : position_at(x.step);
  if (position)
    send_part(x.step, std::move(*position));
  else
    tell_failure(position.error(), x.step);
}

expected<std::string> infeed_state::position_at(int64_t earlier) {
  while (positions.size() > 1 && positions.back().first > earlier)
    positions.pop_back();
  if (positions.empty() || positions.back().first > earlier)
    return fail(unsaved.value_or(error{errc::state, "the position of step " + std::to_string(earlier) + " is not known any more"}));
  const auto [from, position] = positions.back();
  if (from == earlier)
    return position;
  if (auto opened = open_at(&position); !opened)
    return fail(opened.error());
  std::vector<std::shared_ptr<std::byte>> memory;
  std::vector<std::byte*> into;
  for (size_t c = 0; c < row_bytes.size(); ++c) {
    memory.push_back(pools[c].take(rows_of_step() * row_bytes[c]));
    if (!memory.back())
      return fail(errc::resource_exhausted, "no memory for a batch of " + std::to_string(rows_of_step() * row_bytes[c]) + " bytes");
    into.push_back(memory.back().get());
  }
  // The cancellation was for reads ahead; reading on from an earlier position must not be cancelled by it.
  for (int64_t s = from; s < earlier; ++s)
    if (auto rows = read_step(into, {}); !rows)
      return fail(rows.error());
  return source->save();
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
  if (x.attempt != attempt || !begun || ended)
    return;
  cut_off.reset();
  end(error{errc::cancelled, "the job was stopped"}, end_kind::stopped);
}

void infeed_state::on_leave(const leave& x) {
  for (auto& r : readers)
    if (r.edge.id == x.edge && x.attempt == attempt)
      r.left = true;
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
  return {
    [&state](const pull& x) { state.on_pull(x); },
    [&state](const begin& x) { state.on_begin(x); },
    [&state](const run& x) { state.on_run(x); },
    [&state](const rewind& x) { state.on_rewind(x); },
    [&state](const halt& x) { state.on_halt(x); },
    [&state](const stop& x) { state.on_stop(x); },
    [&state](const leave& x) { state.on_leave(x); },
    [&state](const probe& x) {
      int64_t credit = INT64_MAX;
      for (const auto& r : state.readers)
        credit = std::min(credit, r.credit);
      state.self->send(caf::actor_cast<standing_sink_actor>(state.self->current_sender()),
                       standing{x.number, state.options.name, {{"sent", state.step}, {"granted", state.until}, {"asked for", credit}}});
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
    },
  };
}

}  // namespace troupe
