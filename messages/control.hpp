// Control messages: horizon, marks and credit. All steps are absolute, so that a repeated message is harmless. Messages
// of an attempt carry its number; a receiver in another attempt drops them.
#pragma once

#include "messages/fwd.hpp"
#include "messages/inspect.hpp"
#include "messages/sinks.hpp"
#include "words/activity.hpp"
#include "words/loop_spans.hpp"
#include "words/roles.hpp"
#include "words/step_status.hpp"

namespace troupe {

/// What happens when state `step` is reached: flags.
using mark_kinds = uint16_t;
enum mark_kind : mark_kinds {
  mark_snapshot = 1,  ///< The state is sent to the checkpoint writer.
  mark_watch = 2,     ///< The values of the step that leads to it are reported.
  mark_end = 4,       ///< No step follows.
  mark_summary = 8,   ///< The summaries that the model records in the step that leads to it are reported.
  mark_show = 32,     ///< Replicas send the state to the checkpoint writer, which shows it to evaluators.
  mark_observe = 16,  ///< With mark_watch: the values that the model observes are reported, too.
};

struct mark {
  int64_t step = 0;
  mark_kinds kinds = 0;
  friend bool operator==(const mark&, const mark&) = default;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, mark& x) {
  return f(caf::meta::type_name("mark"), x.step, x.kinds);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, loop_span& x) {
  return f(caf::meta::type_name("loop_span"), x.begins, x.steps);
}

/// A new attempt: all nodes begin at state `step`. An infeed begins at `position` of its dataset, or at the beginning;
/// learning rates are multiplied by `rate_factor`. `loop`: those of `step`, which may have begun before it; of
/// training.
struct begin {
  int32_t attempt = 0;
  int64_t step = 0;
  std::optional<std::string> position = {};
  double rate_factor = 1;
  loop_span loop = {};
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, begin& x) {
  bool has_position = x.position.has_value();
  auto position = x.position.value_or("");
  auto load = [&]() -> caf::error {
    x.position = has_position ? std::optional{position} : std::nullopt;
    return caf::none;
  };
  return f(caf::meta::type_name("begin"), x.attempt, x.step, has_position, position, x.rate_factor, x.loop,
           caf::meta::load_callback(load));
}

/// The horizon: no node reads, computes or sends past `until`, which only grows within an attempt. Where the end of the
/// data or a stop cuts the horizon, receivers keep the greater `until` but get no further. A mark names only a state
/// that no node has passed; it may equal the last `until`.
struct run {
  int32_t attempt = 0;
  int64_t until = 0;
  std::vector<mark> marks;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, run& x) {
  return f(caf::meta::type_name("run"), x.attempt, x.until, x.marks);
}

/// Credit: the reader of `edge` has room for every batch below `until_step`, wants at most `block_steps` of them in one
/// message, and never needs a batch below `applied_step` again. On an edge of calls `until_step` is a number of entries
/// since the attempt began, those of steps without calls not counted: there is room for every entry below it.
struct pull {
  int32_t attempt = 0;
  edge_id edge{};
  int64_t until_step = 0;
  int64_t applied_step = 0;
  int64_t block_steps = 1;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, pull& x) {
  return f(caf::meta::type_name("pull"), x.attempt, x.edge, x.until_step, x.applied_step, x.block_steps);
}

/// The job ends at `step`, which the infeed may have passed: send the snapshot part of that state as for a mark, and
/// read no further.
struct rewind {
  int32_t attempt = 0;
  int64_t step = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, rewind& x) {
  return f(caf::meta::type_name("rewind"), x.attempt, x.step);
}

/// To replicas and the outfeed: from the update of step `step` on, learning rates are multiplied by `factor`, which
/// replaces any earlier factor. No replica has made that step yet.
struct scale_rate {
  int32_t attempt = 0;
  int64_t step = 0;
  double factor = 1;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, scale_rate& x) {
  return f(caf::meta::type_name("scale_rate"), x.attempt, x.step, x.factor);
}

/// To replicas and the outfeed: from state `loop.begins` on, where a loop begins, loops have `loop.steps` steps. No
/// replica has made that step yet.
struct set_loop {
  int32_t attempt = 0;
  loop_span loop;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, set_loop& x) {
  return f(caf::meta::type_name("set_loop"), x.attempt, x.loop);
}

/// To an infeed, or to a replica with out-ports: names the reader of `edge`.
struct connect_reader {
  edge_id edge{};
  block_sink_actor reader;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, connect_reader& x) {
  return f(caf::meta::type_name("connect_reader"), x.edge, x.reader);
}

/// To a replica: names the source of `edge`, to which the replica sends credit.
struct connect_source {
  edge_id edge{};
  credit_source_actor source;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, connect_source& x) {
  return f(caf::meta::type_name("connect_source"), x.edge, x.source);
}

/// Names the receiver of snapshot parts from here on; all memory lent to an earlier writer counts as released.
struct connect_parts {
  part_sink_actor writer;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, connect_parts& x) {
  return f(caf::meta::type_name("connect_parts"), x.writer);
}

/// To an outfeed: names the receiver of its records.
struct connect_records {
  record_sink_actor writer;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, connect_records& x) {
  return f(caf::meta::type_name("connect_records"), x.writer);
}

/// Names the receiver of reports from here on: the outfeed or, once that has ended, the actor that replaces it. A
/// replica whose stream has ended sends its `stream_end` again.
struct connect_reports {
  report_sink_actor sink;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, connect_reports& x) {
  return f(caf::meta::type_name("connect_reports"), x.sink);
}

/// The cut of the horizon: end at the step at hand, although more steps were granted, since an input has become too
/// slow to reach the horizon in time. All replicas end at the same step, as at the end of the data, and its state is
/// saved.
struct stop {
  int32_t attempt = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, stop& x) {
  return f(caf::meta::type_name("stop"), x.attempt);
}

/// To both ends of `edge`: nothing flows there from batch `step` on. The sender no longer waits for credit of that
/// reader; the reader goes on with zeros in place of the edge's components.
struct leave {
  int32_t attempt = 0;
  edge_id edge{};
  int64_t step = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, leave& x) {
  return f(caf::meta::type_name("leave"), x.attempt, x.edge, x.step);
}

/// A node's number as an element of a list: CAF reads list elements into variables that it does not initialise.
struct named_node {
  node_id id{};
  friend bool operator==(const named_node&, const named_node&) = default;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, named_node& x) {
  return f(caf::meta::type_name("named_node"), x.id);
}

/// To the outfeed and the checkpoint writer: the group of these replicas has left. None of their reports is awaited any
/// more. A snapshot of `first_state` or a later state has no part of them, and its books have these properties.
struct departed {
  int32_t attempt = 0;
  int64_t first_state = 0;
  std::vector<named_node> replicas;
  std::map<std::string, std::string> properties = {};
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, departed& x) {
  return f(caf::meta::type_name("departed"), x.attempt, x.first_state, x.replicas, x.properties);
}

/// To all replicas of a group: from state `step` on, compute and send the outputs that others read, but apply no
/// updates, and do without the group's own data. To the outfeed: the group does so. To the infeed of these data: read
/// nothing from there on.
struct retire {
  int32_t attempt = 0;
  int64_t step = 0;
  group_id group{};
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, retire& x) {
  return f(caf::meta::type_name("retire"), x.attempt, x.step, x.group);
}

/// Names the receiver of this replica's gradients from here on, in place of a reducer that has ended.
struct connect_reducer {
  gradient_sink_actor reducer;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, connect_reducer& x) {
  return f(caf::meta::type_name("connect_reducer"), x.reducer);
}

/// The attempt has failed: stop working, send `gone` to the checkpoint writer, since no other part follows, and answer
/// `halted` to the sender.
struct halt {
  int32_t attempt = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, halt& x) {
  return f(caf::meta::type_name("halt"), x.attempt);
}

/// The answer to `halt`: the node is inside no step and no read, and sends nothing more in that attempt.
struct halted {
  int32_t attempt = 0;
  node_id who{};
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, halted& x) {
  return f(caf::meta::type_name("halted"), x.attempt, x.who);
}

/// From an infeed, directly to the chief: batch `step` cannot be read, or the position before it cannot be saved. The
/// replicas receive the same cause in `end_of_data`, but may be waiting for something else or have no steps granted.
struct input_failed {
  int32_t attempt = 0;
  node_id infeed{};
  int64_t step = 0;
  error cause;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, input_failed& x) {
  return f(caf::meta::type_name("input_failed"), x.attempt, x.infeed, x.step, x.cause);
}

/// From an infeed, to the chief: a warning for the user about the data. The infeed goes on reading.
struct input_warned {
  int32_t attempt = 0;
  node_id infeed{};
  std::string text;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, input_warned& x) {
  return f(caf::meta::type_name("input_warned"), x.attempt, x.infeed, x.text);
}

/// A summary writer's warning: its event file was removed, replaced or truncated from outside, and it continues in
/// another file.
struct log_replaced {
  std::string text;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, log_replaced& x) {
  return f(caf::meta::type_name("log_replaced"), x.text);
}

/// From an actor to itself: continue work that one turn did not finish, so that other messages are handled in between.
struct proceed {
  int32_t attempt = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, proceed& x) {
  return f(caf::meta::type_name("proceed"), x.attempt);
}

/// From an actor to itself. Number 0: check all waits. Another number: all messages that were in the mailbox before the
/// deadline of wait `number` for `what` have been handled, and the wait is over.
struct deadline {
  uint64_t number = 0;
  int32_t what = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, deadline& x) {
  return f(caf::meta::type_name("deadline"), x.number, x.what);
}

/// An inquiry from an actor that has waited too long, or is asked for a report: how far is the receiver, and what has
/// it done with its time?
struct probe {
  enum recording : uint8_t {
    keeps = 0,    ///< Goes on as it is.
    begins = 1,   ///< Records its time for a trace from here on; there is no answer.
    ends = 2,     ///< The answer has what was recorded.
    asks_on = 3,  ///< As `keeps`, and a node that drives others asks them in its turn.
  };
  uint64_t number = 0;
  uint8_t records = keeps;
  int64_t first = 0, end = 0;  ///< begins: the trace is of steps [first, end).
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, probe& x) {
  return f(caf::meta::type_name("probe"), x.number, x.records, x.first, x.end);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, activity_counts& x) {
  return f(caf::meta::type_name("activity_counts"), x.busy_ns, x.waiting_ns[0], x.waiting_ns[1], x.waiting_ns[2],
           x.waiting_ns[3], x.waiting_ns[4], x.messages, x.bytes, x.queued, x.queued_max, x.mailbox, x.mailbox_max);
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, activity_span& x) {
  auto cause = static_cast<uint8_t>(x.cause);
  auto load = [&]() -> caf::error {
    x.cause = static_cast<wait_cause>(cause);
    return caf::none;
  };
  return f(caf::meta::type_name("activity_span"), x.begin_ns, x.end_ns, x.step, x.works, x.message, cause,
           caf::meta::load_callback(load));
}

template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, activity_recording& x) {
  return f(caf::meta::type_name("activity_recording"), x.messages, x.spans, x.left_out);
}

/// The answer to `probe`, with counts in steps: "replica/0", {{"received", 12}, {"computed", 12}}.
struct standing {
  uint64_t number = 0;
  std::string who;
  std::vector<std::pair<std::string, int64_t>> counts;
  activity_counts spent = {};        ///< Since the start of the actor.
  activity_recording recorded = {};  ///< If the question ended a recording.
  /// The nodes that it has asked in its turn: it passes their answers on, with the same number.
  std::vector<std::string> asked = {};
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, standing& x) {
  return f(caf::meta::type_name("standing"), x.number, x.who, x.counts, x.spent, x.recorded, x.asked);
}

/// A request of the user to a running job.
struct request {
  enum kind : uint8_t {
    save = 1,
    stop = 2,
    abort = 3,
    pause = 4,
    resume = 5,
    scale_rate = 6,
    retire_group = 7,
    report = 8
  };
  uint8_t what = stop;
  bool by_signal = false;  ///< stop: it came by a signal, and no evaluation follows.
  double value = 0;        ///< scale_rate: the factor.
  group_id group{};        ///< retire_group: its training stops at the horizon.
  int64_t begins_at = 0;   ///< retire_group: where the group begins; one of that number in a later plan is another.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, request& x) {
  return f(caf::meta::type_name("request"), x.what, x.by_signal, x.value, x.group, x.begins_at);
}

}  // namespace troupe
