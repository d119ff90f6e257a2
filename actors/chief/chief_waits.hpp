// What a chief waits for: one wait of each kind at a time.
#pragma once

#include <cstdint>

namespace troupe {

enum class chief_wait : int32_t {
  start,       ///< The checkpoint writer, to load the newest checkpoint.
  reports,     ///< Of the next step.
  answers,     ///< From those who were asked where they stand, after a silence.
  commit,      ///< Of the oldest save on its way.
  next_save,   ///< No answer: the time of a save every so many seconds.
  hooks,       ///< To begin, to answer at a gate, to catch up, or to see the end.
  evaluation,
  eval_room,   ///< In the event file of evaluations.
  flush,       ///< Of the outfeed.
  news,        ///< Of the step that an infeed said it cannot read.
  cut,         ///< No answer: how long a stop lets granted steps be made.
  gone,        ///< Everyone who was sent home.
};
inline constexpr int32_t chief_wait_kinds = static_cast<int32_t>(chief_wait::gone) + 1;

}  // namespace troupe
