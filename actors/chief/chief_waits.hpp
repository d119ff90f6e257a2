// The kinds of waits of a chief; at most one wait of each kind at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

namespace troupe {

enum class chief_wait : int32_t {
  nodes,        ///< Agents start the nodes.
  start,        ///< The checkpoint writer loads the newest checkpoint.
  newest,       ///< The checkpoint writer names the newest checkpoint.
  leave,        ///< The nodes of an iteration end with it.
  preparation,  ///< Agents prepare another plan.
  reports,      ///< The next report.
  answers,      ///< Answers to an inquiry, after a silence.
  commit,       ///< The commit of the oldest pending save.
  next_save,    ///< A timer, not a wait for others: the next save by time.
  next_record,  ///< A timer, not a wait for others: the next record by time.
  max_secs,     ///< A timer, not a wait for others: the time that the job may train.
  hooks,        ///< Hooks begin, answer at a gate, catch up, or see the end.
  flush,        ///< The outfeed answers `flush`.
  news,         ///< The replicas' report of a step that an infeed cannot read.
  cut,          ///< A timer, not a wait for others: the time for granted steps after a stop.
  halt,         ///< The nodes of a failed attempt answer `halt`, or end.
  back_off,     ///< A timer, not a wait for others: the delay before the next attempt.
  logs,         ///< The writers of event files close them, at the end.
  verdict,      ///< The verdict on the last checkpoint becomes durable.
  report,       ///< The nodes say what they have done with their time.
  trace,        ///< The nodes hand over what they have recorded.
  gone,         ///< The `down` messages of all nodes, at the end.
  evaluation,   ///< The first evaluation's result; those of the other evaluations follow.
  eval_room,    ///< Room in the evaluation's event file.
  eval_rule,    ///< A rule's predicate answers, on its evaluator.
};

/// The wait for the result of evaluation `which`; below, for room and for predicates.
constexpr chief_wait evaluation_wait(size_t which) {
  return chief_wait{static_cast<int32_t>(chief_wait::evaluation) + 3 * static_cast<int32_t>(which)};
}
constexpr chief_wait room_wait(size_t which) {
  return chief_wait{static_cast<int32_t>(chief_wait::eval_room) + 3 * static_cast<int32_t>(which)};
}
constexpr chief_wait rule_wait(size_t which) {
  return chief_wait{static_cast<int32_t>(chief_wait::eval_rule) + 3 * static_cast<int32_t>(which)};
}
/// The evaluation to which a kind of wait belongs; absent for other kinds.
constexpr std::optional<size_t> evaluation_of(chief_wait w) {
  const auto after = static_cast<int32_t>(w) - static_cast<int32_t>(chief_wait::evaluation);
  return after < 0 ? std::nullopt : std::optional{static_cast<size_t>(after / 3)};
}
constexpr int32_t chief_wait_kinds(size_t evaluations) { return static_cast<int32_t>(evaluation_wait(evaluations)); }

}  // namespace troupe
