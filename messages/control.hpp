// Control: how far to go, where something happens, how much room there is. All steps are absolute, so that a repeated
// message is harmless; all carry the attempt, and those of another attempt are dropped.
#pragma once

#include "messages/fwd.hpp"
#include "messages/inspect.hpp"
#include "messages/sinks.hpp"
#include "words/roles.hpp"
#include "words/step_status.hpp"

namespace troupe {

/// What happens when state `step` is reached: flags.
enum mark_kind : uint8_t {
  mark_snapshot = 1,  ///< Its state is sent to the checkpoint writer.
  mark_watch = 2,     ///< The values of the step that led there are reported.
  mark_end = 4,       ///< Nothing follows.
  mark_summary = 8,   ///< What the model records of the step that led there is reported.
  mark_observe = 16,  ///< With mark_watch: the values that hooks asked for are reported, too.
};

struct mark {
  int64_t step = 0;
  uint8_t kinds = 0;
  friend bool operator==(const mark&, const mark&) = default;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, mark& x) {
  return f(caf::meta::type_name("mark"), x.step, x.kinds);
}

/// A new attempt: state `step` is where everyone stands. `positions` are iterator states by infeed name.
struct begin {
  int32_t attempt = 0;
  int64_t step = 0;
  std::map<std::string, std::string> positions;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, begin& x) {
  return f(caf::meta::type_name("begin"), x.attempt, x.step, x.positions);
}

/// The horizon: nobody reads, computes or sends past `until`, which only grows within an attempt. A mark names only a
/// step that no earlier grant has passed; it may equal the last `until`.
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
/// message, and will not go back below `applied_step`.
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

/// The job turned out to end at `step`: send its snapshot part as if a mark had named it, and read no further.
struct rewind {
  int32_t attempt = 0;
  int64_t step = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, rewind& x) {
  return f(caf::meta::type_name("rewind"), x.attempt, x.step);
}

/// To an infeed, or to a replica with out-ports: who reads `edge`.
struct connect_reader {
  edge_id edge{};
  block_sink_actor reader;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, connect_reader& x) {
  return f(caf::meta::type_name("connect_reader"), x.edge, x.reader);
}

/// To a replica: whom to ask for what comes in by `edge`.
struct connect_source {
  edge_id edge{};
  credit_source_actor source;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, connect_source& x) {
  return f(caf::meta::type_name("connect_source"), x.edge, x.source);
}

/// Where snapshot parts go from now on; everything lent to an earlier writer counts as released.
struct connect_parts {
  part_sink_actor writer;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, connect_parts& x) {
  return f(caf::meta::type_name("connect_parts"), x.writer);
}

/// Where reports go from now on: the outfeed is gone. A stream that has ended says so once more.
struct connect_reports {
  report_sink_actor sink;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, connect_reports& x) {
  return f(caf::meta::type_name("connect_reports"), x.sink);
}

/// End at the step at hand, whatever was granted: the horizon lies too far ahead for an input that has become slow. All
/// replicas end at the same step, as at the end of the data, and its state is saved.
struct stop {
  int32_t attempt = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, stop& x) {
  return f(caf::meta::type_name("stop"), x.attempt);
}

/// To both ends of `edge`: nothing flows there from batch `step` on. The sender counts that reader no more; the reader goes on without
/// it, and is fed zeros in its place.
struct leave {
  int32_t attempt = 0;
  edge_id edge{};
  int64_t step = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, leave& x) {
  return f(caf::meta::type_name("leave"), x.attempt, x.edge, x.step);
}

/// To all replicas of a group: from state `step` on compute and send what others read, and apply nothing.
struct retire {
  int32_t attempt = 0;
  int64_t step = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, retire& x) {
  return f(caf::meta::type_name("retire"), x.attempt, x.step);
}

/// The job has failed: do nothing further, and tell the checkpoint writer by `gone` that no other part comes.
struct halt {
  int32_t attempt = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, halt& x) {
  return f(caf::meta::type_name("halt"), x.attempt);
}

/// From an infeed, to the chief itself: batch `step` cannot be read, or the position before it not be saved. The same cause
/// travels to the replicas, who may be waiting for something else or have nothing granted any more.
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

/// From an infeed, to the chief: what the user ought to know of the data, which are read all the same.
struct input_warned {
  int32_t attempt = 0;
  node_id infeed{};
  std::string text;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, input_warned& x) {
  return f(caf::meta::type_name("input_warned"), x.attempt, x.infeed, x.text);
}

/// An actor to itself: go on with what one turn did not finish, so that other messages are seen between turns.
struct proceed {
  int32_t attempt = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, proceed& x) {
  return f(caf::meta::type_name("proceed"), x.attempt);
}

/// An actor to itself: time to look at what it waits for (number 0), or the last look at the mailbox before the wait
/// `number` for `what` is over.
struct deadline {
  uint64_t number = 0;
  int32_t what = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, deadline& x) {
  return f(caf::meta::type_name("deadline"), x.number, x.what);
}

/// Where do you stand? From whoever has waited too long and wants to name the one it really waits for.
struct probe {
  uint64_t number = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, probe& x) {
  return f(caf::meta::type_name("probe"), x.number);
}

/// The answer: "replica/0", {{"received", 12}, {"computed", 12}}, in steps.
struct standing {
  uint64_t number = 0;
  std::string who;
  std::vector<std::pair<std::string, int64_t>> counts;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, standing& x) {
  return f(caf::meta::type_name("standing"), x.number, x.who, x.counts);
}

/// What the user may ask of a running job.
struct request {
  enum kind : uint8_t { save = 1, stop = 2, abort = 3 };
  uint8_t what = stop;
  bool by_signal = false;  ///< No evaluation follows.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, request& x) {
  return f(caf::meta::type_name("request"), x.what, x.by_signal);
}

}  // namespace troupe
