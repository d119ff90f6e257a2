// Control: how far to go, where something happens, how much room there is. All steps are absolute, so that a repeated
// message is harmless; all carry the attempt, and those of another attempt are dropped.
#pragma once

#include "messages/fwd.hpp"
#include "messages/inspect.hpp"

#include <caf/actor.hpp>

namespace troupe {

/// What happens when state `step` is reached: flags.
enum mark_kind : uint8_t {
  mark_snapshot = 1,  ///< Its state is sent to the checkpoint writer.
  mark_watch = 2,     ///< The values of the step that led there are reported.
  mark_end = 4,       ///< Nothing follows.
  mark_summary = 8,   ///< What the model records of the step that led there is reported.
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
  int32_t edge = 0;
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

/// To an infeed: the reader of `edge`. To a replica: whom to ask for what comes in by port `edge`.
struct connect {
  int32_t edge = 0;
  caf::strong_actor_ptr peer;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, connect& x) {
  return f(caf::meta::type_name("connect"), x.edge, x.peer);
}

/// Where snapshot parts go from now on; everything lent to an earlier writer counts as released.
struct connect_parts {
  caf::strong_actor_ptr writer;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, connect_parts& x) {
  return f(caf::meta::type_name("connect_parts"), x.writer);
}

/// An actor to itself: go on with what one turn did not finish, so that other messages are seen between turns.
struct proceed {
  int32_t attempt = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, proceed& x) {
  return f(caf::meta::type_name("proceed"), x.attempt);
}

/// An actor to itself: the wait `number` for `what` may have lasted long enough.
struct deadline {
  uint64_t number = 0;
  int32_t what = 0;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, deadline& x) {
  return f(caf::meta::type_name("deadline"), x.number, x.what);
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
