// A step of a replica: the batch or the end that is due, the computation, and the update.
#include "actors/steps/replica.hpp"
#include "messages/counted.hpp"
#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <stdexcept>

namespace troupe {

const end_of_data* replica_state::earliest_end() const {
  const end_of_data* first = nullptr;
  for (const auto& p : ports)
    if (p.end && p.end->first_missing_step <= step && (!first || p.end->first_missing_step < first->first_missing_step))
      first = &*p.end;
  return first;
}

/// The outcome of the step if an end is due in its place.
std::optional<step_outcome> replica_state::outcome_of_end() const {
  const auto* end = earliest_end();
  if (stopping && (!end || end->kind != end_kind::data))
    return step_outcome{step_status::ended | step_status::stopped, error{errc::cancelled, "the job was stopped"}};
  if (!end)
    return std::nullopt;
  switch (end->kind) {
    case end_kind::failed: return step_outcome{step_status::bad_input, end->cause};
    case end_kind::stopped: return step_outcome{step_status::ended | step_status::stopped, end->cause};
    case end_kind::data:
    case end_kind::not_finite: break;
  }
  return step_outcome{step_status::ended, end->cause};
}

/// Makes the whole step except its update.
step_outcome replica_state::compute() {
  if (auto looked = feeds.empty() ? look_at_blocks() : expected<void>{}; !looked)
    return {step_status::bad_input, looked.error()};
  auto& engine = *options.engine;
  const auto next = marks.find(step + 1);
  const mark_kinds due = options.mode == mode::train && next != marks.end() ? next->second : mark_kinds{0};
  has_records = (due & mark_summary) != 0;
  has_observed = (due & mark_observe) != 0;
  const int64_t rows = leading()->blocks.front().rows;
  has_values = false;
  const batch_feeds in{feeds,        rows,    has_records, has_observed,
                       measures(),   exposed, due_calls(), options.mode != mode::train && step == began_at,
                       begins_loop()};
  if (!expose(rows))
    return {step_status::bad_input, {errc::resource_exhausted, "no memory for what others are to read of this step"}};
  step_outcome made;
  made.status = options.mode != mode::train ? engine.evaluate(number(), in, current)
                : trains()                  ? engine.gradients(step, in, current)
                                            : engine.expose(step, in, current);
  // With several replicas, the sum is checked, once. A replica that has to find the origin checks its own part.
  const bool looks = trains() && (options.replicas == 1 || options.debug_numerics);
  if (made.status == step_status::ok && looks && !engine.finite(engine.gradient())) {
    made = {step_status::not_finite, {errc::nan_loss, "the gradient is not finite"}};
    explain(made.cause, in);
  } else if (has(made.status, step_status::not_finite)) {
    made.cause = {errc::nan_loss, "the loss is not finite"};
    explain(made.cause, in);
  } else if (has(made.status, step_status::cancelled)) {
    made.cause = {errc::cancelled, "the step was cancelled"};
  } else if (made.status != step_status::ok) {
    made.cause = engine.last_error();
  }
  has_values = made.status == step_status::ok;
  if (planted(planted_fault::called_unapplied) && has_values) {
    note_made();
    send_report();
  }
  return made;
}

void replica_state::fire() {
  if (planted(planted_fault::ends) && ends_here(options.name, step))
    throw std::runtime_error("a planted end: " + options.name + "@" + std::to_string(step));
  if (pending.losses.empty())
    pending_since = self->clock().now();
  if (spent.records())
    spent.at_step(now_ns_of(*this), step);
  auto ended_here = outcome_of_end();
  auto [status, cause] = ended_here ? std::move(*ended_here) : compute();
  if (status != step_status::ok) {
    if (cause.source.empty())
      cause.source = options.name;
    cause.step = number();
  }
  target = trains() && switches_arenas() ? 1 - current : current;
  // Replicas of a retired group, too, agree on whether the step counts.
  const bool alone = options.mode != mode::train || (planted(planted_fault::retired_alone) && !trains());
  if (options.replicas > 1 && !alone)
    return reduce({status, std::move(cause)});
  if (status != step_status::ok)
    return stop_at(status, std::move(cause));
  if (planted(planted_fault::part_in_mid_step) && marks.contains(step + 1) && (marks[step + 1] & mark_snapshot) != 0) {
    ++step;
    lend();
    --step;
  }
  if (trains())
    apply(options.engine->gradient());
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
  // All zeros are one buffer, so that none of them is replaced by a larger one.
  int64_t most_zeros = 0;
  for (size_t i = 0; i < ports.size(); ++i)
    if (ports[i].has_left(step))
      for (const int64_t row : options.in_edges[i].row_bytes)
        most_zeros = std::max(most_zeros, first.rows * row);
  const auto* const all_zeros = most_zeros > 0 ? zeros_of(most_zeros) : nullptr;
  if (most_zeros > 0 && !all_zeros)
    return fail(errc::resource_exhausted, "no memory for the zeros in place of a source that has left");
  for (size_t i = 0; i < ports.size(); ++i) {
    auto& p = ports[i];
    if (p.has_left(step)) {
      strides.resize(strides.size() + options.in_edges[i].row_bytes.size());
      feeds.resize(strides.size(), all_zeros);
      continue;
    }
    const auto& b = p.blocks.front();
    if (b.rows != first.rows)
      return fail(errc::invalid_argument, "edge " + std::to_string(index_of(p.edge)) + " brought "
                                              + std::to_string(b.rows) + " rows for step " + std::to_string(step)
                                              + ", and edge " + std::to_string(index_of(leading()->edge)) + " brought "
                                              + std::to_string(first.rows));
    for (const auto& c : b.components) {
      strides.push_back(c.byte_size() / b.count);
      const int64_t row_bytes = c.byte_size() / c.dims()[0];
      feeds.push_back(c.data() + (step - b.step) * strides.back() + b.first_row * row_bytes);
    }
  }
  return {};
}

void replica_state::note_made() {
  send_called();
  if (pending.losses.empty())
    pending.step = step;
  pending.losses.push_back(options.engine->loss());
}

void replica_state::finish_step() {
  current = target;
  options.engine->carry(current);
  keep_exposed();
  if (!planted(planted_fault::called_unapplied))
    note_made();
  if (options.mode != mode::train)
    pending.watched.push_back({number(), options.engine->values()});
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
    give_credit(credit_rule::if_grown);
  serve_readings();
}

bool replica_state::begins_loop() {
  loops.forget(step);
  if (planted(planted_fault::state_reset_late))
    return step > began_at && loops.at(step - 1).begins_at(step - 1);
  return loops.at(step).begins_at(step);
}

bool replica_state::measures() const {
  return trains() && options.log_every > 0
         && (options.measure == measuring::always
             || (options.measure == measuring::when_recording && (step + 1) % options.log_every == 0));
}

void replica_state::explain(error& cause, const batch_feeds& in) {
  if (!options.debug_numerics) {
    cause.notes.emplace_back(debug_numerics_hint);
    return;
  }
  // No replica applies this step, so the arena still holds the state before it, and the batch is still here.
  auto fault = options.engine->find_fault(step, in, current);
  if (!fault) {
    cause.notes.emplace_back("made again operation by operation, the step was finite or was cancelled");
    return;
  }
  if (fault->row >= 0)
    fault->row += leading()->blocks.front().first_row;
  cause.message += "; " + to_string(*fault);
  cause.notes = std::move(fault->details);
  if (fault->what != numeric_fault::kind::variable || options.mode != mode::train)
    return;
  if (!fault->updated || step == began_at) {
    cause.message += " since before the first step of this run";
    return;
  }
  cause.message += ", which became so in the update of step " + std::to_string(step - 1);
  cause.notes.emplace_back(
      "the gradient of that update was finite: the update overflowed, or an earlier one did and no value since let it "
      "show");
}

}  // namespace troupe
