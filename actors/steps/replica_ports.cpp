// The out-ports of a replica: it sends outputs of its steps to other groups on credit, and handles readers and sources
// that leave.
#include "actors/steps/replica.hpp"
#include "words/expect.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

void replica_state::on_pull(const pull& x) {
  if (early.keep(attempt, x) || x.attempt != attempt)
    return;
  if (options.calls == x.edge)
    calls.room = std::max(calls.room, x.until_step);
  for (auto& out : outs)
    for (auto& r : out.readers)
      if (r.edge == x.edge) {
        r.credit = std::max(r.credit, x.until_step);
        r.block_steps = std::max<int64_t>(1, x.block_steps);
      }
  advance();
}

void replica_state::on_leave(const leave& x) {
  if (x.attempt != attempt)
    return;
  for (auto& p : ports)
    if (p.edge == x.edge)
      // Batches that have arrived count, because other replicas read them.
      p.left_at = std::max(x.step, p.arrived);
  calls.left = calls.left || options.calls == x.edge;
  for (auto& out : outs)
    for (auto& r : out.readers)
      r.left = r.left || r.edge == x.edge;
  advance();
}

void replica_state::on_retire(const retire& x) {
  if (x.attempt != attempt || !begun)
    return;
  retires_at = x.step;
  for (size_t i = 0; i < ports.size(); ++i)
    if (options.in_edges[i].until_retired)
      ports[i].left_at = x.step;
  advance();
}

const replica_state::in_port* replica_state::leading() const {
  const auto there = std::find_if(ports.begin(), ports.end(), [this](const in_port& p) { return !p.has_left(step); });
  return there == ports.end() ? nullptr : &*there;
}

const std::byte* replica_state::zeros_of(int64_t bytes) {
  if (zeros.byte_size() < bytes)
    zeros = tensor::zeros(dtype::uint8, {bytes});
  return zeros.data();
}

bool replica_state::has_room() const {
  for (const auto& out : outs)
    for (const auto& r : out.readers)
      if (!r.left && (!r.sink || r.credit <= step))
        return false;
  return true;
}

bool replica_state::expose(int64_t rows) {
  if (outs.empty())
    return true;
  if (filled_steps > 0 && rows != filled_rows)
    send_exposed();  // A partial batch is a block of its own.
  if (filled_steps == 0) {
    filled_from = step;
    filled_rows = rows;
    // One of several replicas sends the outputs of each step at once. If it kept them to fill a block, a reader that
    // lacks them could stop giving credit to the other replicas, and they and this one would wait for each other.
    filled_room = options.replicas > 1 ? 1 : block_steps;
    for (const auto& out : outs)
      for (const auto& r : out.readers)
        if (!r.left)
          filled_room = std::min({filled_room, r.block_steps, r.credit - step});
  }
  bool there = true;
  for (size_t c = 0; c < outs.size(); ++c) {
    const int64_t batch = rows * outs[c].what.row_bytes();
    if (filled_steps == 0)
      outs[c].memory = outs[c].pool.take(filled_room * batch);
    exposed[c] = outs[c].memory ? outs[c].memory.get() + filled_steps * batch : nullptr;
    there = there && exposed[c];
  }
  return there;
}

void replica_state::keep_exposed() {
  if (outs.empty())
    return;
  if (++filled_steps == filled_room)
    send_exposed();
}

void replica_state::send_exposed() {
  const int64_t count = std::exchange(filled_steps, 0);
  if (count == 0)
    return;
  for (auto& out : outs) {
    const tensor values{out.what.type, out.what.dims.prepend(count * filled_rows), std::move(out.memory)};
    out.memory.reset();
    for (const auto& r : out.readers)
      if (!r.left) {
        expect(filled_from + count <= r.credit, "a block goes beyond the credit");
        self->send(r.sink, block{attempt, r.edge, filled_from, count, 0, filled_rows, {values}});
      }
  }
}

void replica_state::end_exposed(const error& cause, end_kind kind) {
  for (const auto& out : outs)
    for (const auto& r : out.readers)
      if (!r.left && r.sink)
        self->send(r.sink, end_of_data{attempt, r.edge, step, cause, kind});
}

}  // namespace troupe
