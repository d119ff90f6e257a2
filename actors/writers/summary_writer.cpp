#include "actors/writers/summary_writer.hpp"

#include "messages/counted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

double summary_writer_state::wall_time() {
  return options.wall_offset + std::chrono::duration<double>(self->clock().now().time_since_epoch()).count();
}

/// Values of a program have no place in the order of steps, and a recovery does not repeat them.
void summary_writer_state::take_values() {
  if (!options.port || options.awaits_start)
    return;
  for (auto& x : options.port->take_values()) {
    log_event event{.step = x.step};
    for (const auto& [tag, value] : x.values)
      event.values.push_back({.tag = tag, .scalar = value});
    write({}, std::move(event));
  }
}

void summary_writer_state::on_record(const early_record& came) {
  if (options.awaits_start)
    return early.push_back(came);
  take_values();
  const auto& x = came.what;
  // A recovered job makes steps again whose records are already in the file, with the same values.
  if (options.of_evaluations || !newest || x.step > *newest) {
    if (!x.values.empty())
      write({}, {.step = x.step, .values = x.values});
    for (const auto& part : x.elsewhere)
      write(part.directory, {.step = x.step, .values = part.values});
  }
  newest = std::max(newest.value_or(x.step), x.step);
  if (options.of_evaluations)
    flush();
  if (x.number >= 0)
    self->send(came.from, record_credit{x.attempt, x.number + 1 + options.credit, options.id});
}

void summary_writer_state::on_note(const note& x) {
  if (x.what == note::checkpoint)
    return write({}, {.step = x.step, .note = session_note{session_note::kind::checkpoint, x.path, {}}});
  // Readers of a file drop their values of this step and later ones. State `step` itself was reached before, so its
  // values stay.
  const log_event start{.step = x.step + 1, .note = session_note{session_note::kind::start, {}, {}}};
  write({}, start);
  if (!failed)
    logs->begin_with(start);
  options.awaits_start = false;
  for (const auto& came : std::exchange(early, {}))
    on_record(came);
}

void summary_writer_state::on_part(const snapshot_part& x) {
  take_values();
  flush();
  // Also after a failure: an event file that cannot be written does not prevent a save.
  self->send(parts, x);
}

void summary_writer_state::write(const std::string& directory, log_event event) {
  if (failed)
    return;
  event.wall_time = wall_time();
  std::string path = options.directory;
  for (const auto& part : {directory, options.folder})
    if (!part.empty())
      path = join_path(path, part);
  if (auto added = logs->add(path, event); !added)
    return fail_with(added.error());
  if (logs->unflushed_bytes() >= options.unflushed_bytes_max)
    return flush();
  if (!std::exchange(flush_planned, true))
    self->delayed_send(self, options.flush_period, deadline{});
}

void summary_writer_state::flush() {
  if (failed)
    return;
  if (auto flushed = logs->flush(); !flushed)
    return fail_with(flushed.error());
  for (auto& remark : logs->take_remarks())
    self->send(driver, log_replaced{std::move(remark)});
}

void summary_writer_state::fail_with(error cause) {
  failed = true;
  logs.reset();
  cause.source = options.name;
  self->send(driver, failure{0, options.id, std::move(cause)});
}

summary_writer_actor::behavior_type summary_writer(summary_writer_actor::stateful_pointer<summary_writer_state> self,
                                                   summary_writer_options options, log_listener_actor driver) {
  auto& state = self->state;
  state.self = self;
  state.options = std::move(options);
  state.logs.emplace(state.options.files, event_logs_options{state.options.host, state.options.claim});
  state.driver = std::move(driver);
  return counted<summary_writer_actor>(
      state, [&state](const snapshot_part& x) { state.on_part(x); },
      [&state](const gone& x) { state.self->send(state.parts, x); },
      [&state](const connect_parts& x) { state.parts = x.writer; },
      [&state](const record& x) {
        state.on_record({x, caf::actor_cast<record_source_actor>(state.self->current_sender())});
      },
      [&state](const note& x) { state.on_note(x); },
      [&state](const deadline&) {
        state.flush_planned = false;
        state.flush();
      },
      [&state](const finish_log&) {
        state.take_values();
        if (state.options.notes_end && !state.options.awaits_start)
          state.write({}, {.note = session_note{session_note::kind::stop, {}, {}}});
        state.flush();
        if (!state.failed)
          if (auto closed = state.logs->close(); !closed)
            state.fail_with(closed.error());
        state.self->quit();
      },
      answers_probe(state));
}

}  // namespace troupe
