// The waits of a chief: one of each kind at a time.
#pragma once

#include <cstdint>

namespace troupe {

enum class chief_wait : int32_t {
  start,       ///< The checkpoint writer loads the newest checkpoint.
  reports,     ///< Reports of the next step.
  answers,     ///< Answers to an inquiry, after a silence.
  commit,      ///< The commit of the oldest pending save.
  next_save,   ///< A timer, not a wait for others: the next save by time.
  hooks,       ///< Hooks begin, answer at a gate, catch up, or see the end.
  evaluation,
  eval_room,   ///< Room in the event file of evaluations.
  flush,       ///< The outfeed answers `flush`.
  news,        ///< The replicas' report of a step that an infeed cannot read.
  cut,         ///< A timer, not a wait for others: the time for granted steps after a stop.
  halt,        ///< The nodes of a failed attempt answer `halt`, or end.
  back_off,    ///< A timer, not a wait for others: the delay before the next attempt.
  gone,        ///< The downs of all nodes, at the end.
};
inline constexpr int32_t chief_wait_kinds = static_cast<int32_t>(chief_wait::gone) + 1;

}  // namespace troupe
