// How an infeed reads the steps of a block and sends them to its readers.
#include "actors/steps/infeed.hpp"
#include "words/expect.hpp"
#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <numeric>
#include <stdexcept>

namespace troupe {

/// Bytes of a batch that is lent. A smaller one costs little to copy, and blocks that end wherever the rows in memory
/// do would cost more.
constexpr int64_t lent_min = 16'384;

expected<void> infeed_state::open_at(const std::optional<std::string>& position) {
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
  if (auto there = source->restore(*position); !there) {
    if (there.error().category == errc::invalid_argument)
      there.error().notes.emplace_back("with input_changed = anew the data begin anew");
    return there;
  }
  for (auto& text : source->warnings())
    warn(std::move(text));
  return {};
}

void infeed_state::warn(std::string text) {
  if (listener && told.insert(text).second)
    self->send(listener, input_warned{attempt, options.id, std::move(text)});
}

expected<void> infeed_state::begin_at(const std::optional<std::string>& position) {
  auto opened = open_at(position);
  if (opened || !position || !options.data_may_change || opened.error().category != errc::invalid_argument)
    return opened;
  warn("the data begin anew: " + opened.error().message);
  source.reset();
  return open_at({});
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
    const bool is_partial = rows && *rows != source->batch_rows();
    if (is_partial)
      rows = fail(errc::out_of_range, "a partial batch is no whole one for each of "
                                          + std::to_string(options.batches_per_step) + " replicas");
    if (!rows) {
      broken = broken || batch > 0 || is_partial;  // What was read for this step must be read again.
      return rows;
    }
    for (size_t c = 0; c < at.size(); ++c)
      at[c] += *rows * row_bytes[c];
  }
  return rows_of_step();
}

error infeed_state::of_own_data(const std::string& why, const error& cause) const {
  error e{errc::invalid_argument, "the data of " + options.own_of + " (train_input) " + why};
  if (!cause.message.empty()) {
    e.notes.push_back(to_text(cause));
    e.notes.emplace_back(
        "their number of batches is not known: end them with take(n), repeat them (repeat), or set "
        "steps_max to what they have");
  }
  return e;
}

int64_t infeed_state::first_without_room() const {
  int64_t first = INT64_MAX;
  for (size_t r = 0; r < readers.size(); ++r) {
    const auto& to = readers[r];
    if (!to.left)
      first = std::min(first, !to.sink ? step : options.deals ? dealt_to(r).number_of(to.credit) : to.credit);
  }
  return first;
}

/// A reader grants three blocks beyond its step, and grants more whenever it has used one. If room for a part of a
/// block were filled at once, each part would come back as room for a part, and blocks would never become whole again.
/// Who has less room than a block has more than two blocks that it has not used, so that the wait ends.
int64_t infeed_state::steps_of_block() const {
  const int64_t horizon = read_up_to(until), room = first_without_room(), limit = std::min(horizon, room);
  if (step >= limit)
    return 0;
  const int64_t most = std::max<int64_t>(1, options.block_bytes_max / std::max<int64_t>(batch_bytes(), 1));
  int64_t wanted = most;
  for (const auto& r : readers)
    if (!r.left)
      wanted = std::min(wanted, r.block_steps);
  if (options.deals)
    wanted = std::min(wanted * std::ssize(readers), most);
  wanted = std::min(wanted, horizon - step);
  // A block ends at a snapshot mark, so that an error of saving the iterator there follows all earlier batches.
  for (const auto& [at, kinds] : marks)
    if (at > step && (kinds & mark_snapshot) != 0)
      wanted = std::min(wanted, at - step);
  if (options.deals)
    return std::min(limit - step, wanted);  // No reader waits for the others.
  return limit - step < wanted ? 0 : wanted;
}

int64_t infeed_state::batch_bytes() const {
  return rows_of_step() * std::accumulate(row_bytes.begin(), row_bytes.end(), int64_t{0});
}

int64_t infeed_state::place_of(int64_t at, int64_t first, int64_t count) const {
  if (!options.deals)
    return at - first;
  int64_t before = 0;
  const auto reader = static_cast<size_t>(at % std::ssize(readers));
  for (size_t r = 0; r < reader; ++r)
    before += dealt_to(r).below(first + count) - dealt_to(r).below(first);
  return before + dealt_to(reader).below(at) - dealt_to(reader).below(first);
}

bool infeed_state::lend_block(int64_t count) {
  if (batch_bytes() < lent_min || options.batches_per_step > 1 || stopping.stop_requested()
      || planted(planted_fault::ends))
    return false;
  if (options.deals && readers.size() > 1)
    count = 1;  // The batches of one reader are not adjacent.
  const auto lent = source->lend(count);
  if (!lent) {
    broken = true;
    end(lent.error());
    return true;
  }
  if (lent->count == 0)
    return false;
  buffers memory;
  for (const auto& rows : lent->components)
    memory.push_back(rows.buffer());
  const int64_t first = std::exchange(step, step + lent->count);
  hand_over(first, lent->count, lent->count, rows_of_step(), memory);
  return true;
}

void infeed_state::read_block(int64_t count) {
  const int64_t rows_max = rows_of_step();
  if (!options.deals) {
    if (auto position = source->save())
      positions.emplace_back(step, std::move(*position));
    else
      unsaved = std::move(position.error());
  }
  if (lend_block(count))
    return;
  buffers memory;
  std::vector<std::byte*> starts;
  for (size_t c = 0; c < row_bytes.size(); ++c) {
    auto buffer = pools[c].take(count * rows_max * row_bytes[c]);
    if (!buffer)
      return end(error{errc::resource_exhausted, "no memory for " + std::to_string(count) + " batches of "
                                                     + std::to_string(batch_bytes()) + " bytes"});
    starts.push_back(buffer.get());
    memory.push_back(std::move(buffer));
  }

  const int64_t first = step, planned = count;
  const auto began = self->clock().now();
  std::vector<std::byte*> into(memory.size());
  for (int64_t i = 0; i < count; ++i) {
    const bool cancelled = stopping.stop_requested();
    if (i > 0 && (cancelled || self->clock().now() - began >= options.block_time_max)) {
      count = i;  // A slow input delivers its first batch without waiting for the others.
      break;
    }
    for (size_t c = 0; c < into.size(); ++c)
      into[c] = starts[c] + place_of(step, first, planned) * rows_max * row_bytes[c];
    auto rows = cancelled ? expected<int64_t>{fail(errc::cancelled, "reading was cancelled")}
                          : read_step(into, stopping);
    if (!rows || *rows != rows_max) {
      if (i > 0)
        send_block(first, i, planned, rows_max, memory);
      if (!rows) {
        const bool data_ended = rows.error().category == errc::out_of_range;  // As dataset_iterator::read reports it.
        broken = broken || !data_ended;
        if (options.ends_steps && rows.error().category == errc::cancelled && !ended) {
          cut_off = rows.error();  // If a stop cancelled the read, its message is already in the mailbox.
          return proceed_later();
        }
        if (data_ended && !options.own_of.empty())
          return end(of_own_data("end before its training does", rows.error()));
        return end(rows.error(), data_ended ? end_kind::data : end_kind::failed);
      }
      if (ended)
        return;
      if (!options.own_of.empty())
        return end(of_own_data("have a batch of " + std::to_string(*rows) + " rows, and not of "
                                   + std::to_string(rows_max) + " as that of the search",
                               {}));
      // A partial batch needs another binding of the program, so it is sent alone.
      buffers alone;
      for (size_t c = 0; c < into.size(); ++c) {
        auto buffer = pools[c].take(*rows * row_bytes[c]);
        if (!buffer)
          return end(error{errc::resource_exhausted, "no memory for a partial batch"});
        std::copy_n(into[c], *rows * row_bytes[c], buffer.get());
        alone.push_back(std::move(buffer));
      }
      const int64_t last = step++;
      return hand_over(last, 1, 1, *rows, alone);
    }
    ++step;
  }
  hand_over(first, count, planned, rows_max, memory);
}

/// Sends the part before the block: once a state has been reported, the checkpoint writer has all infeeds' parts of it.
void infeed_state::hand_over(int64_t first, int64_t count, int64_t planned, int64_t rows, const buffers& memory) {
  auto saved = reach();
  send_block(first, count, planned, rows, memory);
  if (!saved) {
    broken = true;
    end(saved.error());
  }
}

void infeed_state::send_block(int64_t first, int64_t count, int64_t planned, int64_t rows, const buffers& memory) {
  if (options.deals)
    return deal_block(first, count, planned, rows, memory);
  for (const auto& r : readers)
    if (rows % r.edge.readers != 0) {
      step = first;  // None of these batches is sent, so the first of them is the first missing step.
      broken = true;
      return end(error{errc::invalid_argument, "a batch of " + std::to_string(rows)
                                                   + " rows cannot be split evenly among "
                                                   + std::to_string(r.edge.readers) + " replicas"});
    }
  std::vector<tensor> components;
  size_t c = 0;
  for (const auto& part : parts_of_row)
    components.emplace_back(part.type, part.dims.prepend(count * rows), memory[c++]);
  for (auto& r : readers) {
    if (r.left)
      continue;
    expect(first + count <= std::min(r.credit, until), "a block goes beyond the credit or the horizon");
    const int64_t rows_each = rows / r.edge.readers;
    self->send(r.sink, block{attempt, r.edge.id, first, count, rows_each * r.edge.reader, rows_each, components});
  }
}

void infeed_state::deal_block(int64_t first, int64_t count, int64_t planned, int64_t rows, const buffers& memory) {
  for (size_t r = 0; r < readers.size(); ++r) {
    auto& to = readers[r];
    const auto own_share = dealt_to(r);
    const int64_t own = own_share.below(first), own_count = own_share.below(first + count) - own;
    if (to.left || own_count == 0)
      continue;
    expect(own + own_count <= to.credit && first + count <= until, "a block goes beyond the credit or the horizon");
    std::vector<tensor> components;
    for (size_t c = 0; c < memory.size(); ++c) {
      const int64_t batch_bytes = rows * row_bytes[c];
      const std::shared_ptr<const std::byte> from{
          memory[c], memory[c].get() + place_of(own_share.number_of(own), first, planned) * batch_bytes};
      components.emplace_back(parts_of_row[c].type, parts_of_row[c].dims.prepend(own_count * rows), from);
    }
    self->send(to.sink, block{attempt, to.edge.id, own, own_count, 0, rows, std::move(components)});
  }
}

}  // namespace troupe
