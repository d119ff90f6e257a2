// What a replica does at marks: parts of snapshots, values and records for the next report.
#include "actors/steps/replica.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

void replica_state::reach() {
  const mark_kinds kinds = take_marks();
  if (kinds == 0)
    return;
  collect(kinds);
  serve(kinds);
  send_report();
}

mark_kinds replica_state::take_marks() {
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
    send_part(part_use::evaluated);
  if ((kinds & mark_end) != 0)
    ended = true;
}

void replica_state::lend() {
  if (!peers.parts || last_part == step)
    return;
  last_part = step;
  send_part(part_use::saved);
  if (!options.told_at_saves.empty())
    tell_values();
}

/// Part of the next report, so that the chief has the values once all know that the state is reached.
void replica_state::tell_values() {
  auto values = values_in(options.engine->pieces(current), options.told_at_saves);
  if (values.empty())
    return;
  if (pending.losses.empty())
    pending.step = step;
  pending.told.push_back({step, std::move(values)});
}

static tensor copy_of(const tensor& x) { return tensor::copy_of(x.type(), x.dims(), x.bytes()); }

void replica_state::send_part(part_use use) {
  switches_at = step;
  snapshot_part part{attempt, step, options.id};
  part.shown = use == part_use::evaluated;
  bool carried = lent[current] && lent[current]->carried;
  for (auto& piece : options.engine->pieces(current)) {
    if (piece.carried && use == part_use::evaluated)
      continue;  // An evaluation has states of its own.
    // The next step of a retired replica carries in place, since it does not change arenas.
    const bool copies = piece.carried && !trains();
    carried = carried || (piece.carried && !copies);
    auto elements = copies ? copy_of(piece.elements) : std::move(piece.elements);
    part.pieces.push_back({piece.name,
                           {piece.dims.extents().begin(), piece.dims.extents().end()},
                           piece.first,
                           piece.trainable,
                           std::move(elements)});
  }
  if (!part.pieces.empty())  // An empty slice lends nothing, so nothing is released.
    lent[current] = loan{step, 1 + (lent[current] ? lent[current]->parts : 0), carried};
  self->send(peers.parts, std::move(part));
}

void replica_state::on_read_variables(const read_variables& x) {
  if (x.attempt != attempt || halted_attempt == attempt)
    return;
  if (x.names.empty()) {
    std::erase_if(readings, [&](const auto& r) { return r.second.number == x.number; });
    return;
  }
  readings.emplace_back(caf::actor_cast<variables_sink_actor>(self->current_sender()), x);
  serve_readings();
}

/// Between two steps of this replica the arena belongs to no update: others apply the next one only once they have the
/// gradient of this one.
void replica_state::serve_readings() {
  if (waiting != wait::none)
    return;
  for (const auto& [reader, wanted] : std::exchange(readings, {})) {
    variables_read found{wanted.attempt, wanted.number, step};
    for (size_t i = 0; i < wanted.names.size() && found.ok; ++i) {
      auto value = options.engine->variable(wanted.names[i], current);
      found.ok = value.has_value();
      if (value)
        found.values.push_back(std::move(*value));
      else
        found.cause = std::move(value.error());
    }
    self->send(reader, std::move(found));
  }
}

}  // namespace troupe
