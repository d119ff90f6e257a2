// Messages that reach a chief late: those of an attempt that has ended, and those that arrive while the job ends.
#pragma once

#include "messages/interfaces.hpp"

namespace troupe {

enum class late : uint8_t {
  heard,  ///< Handled as always.
  dropped,
  /// The commit of an attempt that has failed meanwhile: its lease ends. The next attempt commits or verifies the
  /// checkpoint again.
  unleased,
};

struct lateness {
  late in_another_attempt, at_the_end;  ///< While the job ends: files are closed, hooks see the end, nodes end.
};

/// One row for each message that a chief handles, except its own deadlines. A message without a row does not compile.
template <class M>
constexpr lateness lateness_of() = delete;
template <>
constexpr lateness lateness_of<started>() {
  return {late::dropped, late::dropped};
}
template <>
constexpr lateness lateness_of<prepared>() {
  return {late::dropped, late::dropped};
}
template <>
constexpr lateness lateness_of<newest>() {
  return {late::dropped, late::dropped};
}
template <>
constexpr lateness lateness_of<restored>() {
  return {late::dropped, late::dropped};
}
template <>
constexpr lateness lateness_of<progress>() {
  return {late::dropped, late::dropped};
}
template <>
constexpr lateness lateness_of<stream_end>() {
  return {late::dropped, late::dropped};
}
template <>
constexpr lateness lateness_of<step_report>() {
  return {late::dropped, late::dropped};
}
template <>
constexpr lateness lateness_of<input_failed>() {
  return {late::dropped, late::dropped};
}
template <>
constexpr lateness lateness_of<input_warned>() {
  return {late::dropped, late::dropped};
}
template <>
constexpr lateness lateness_of<log_replaced>() {
  return {late::heard, late::dropped};
}
/// In another attempt, it may come from a node that lives on; at the end, from an event file or a hook.
template <>
constexpr lateness lateness_of<failure>() {
  return {late::heard, late::heard};
}
template <>
constexpr lateness lateness_of<flushed>() {
  return {late::heard, late::dropped};
}
template <>
constexpr lateness lateness_of<halted>() {
  return {late::dropped, late::dropped};
}
template <>
constexpr lateness lateness_of<standing>() {
  return {late::heard, late::dropped};
}
template <>
constexpr lateness lateness_of<committed>() {
  return {late::unleased, late::dropped};
}
template <>
constexpr lateness lateness_of<verdict_seen>() {
  return {late::heard, late::dropped};
}
template <>
constexpr lateness lateness_of<save_failed>() {
  return {late::dropped, late::dropped};
}
template <>
constexpr lateness lateness_of<late_properties_kept>() {
  return {late::dropped, late::dropped};
}
template <>
constexpr lateness lateness_of<state_shown>() {
  return {late::dropped, late::dropped};
}
/// Evaluations, exports and predicates belong to the job, not to an attempt.
template <>
constexpr lateness lateness_of<batches_evaluated>() {
  return {late::heard, late::dropped};
}
template <>
constexpr lateness lateness_of<evaluated>() {
  return {late::heard, late::dropped};
}
template <>
constexpr lateness lateness_of<exported>() {
  return {late::heard, late::dropped};
}
template <>
constexpr lateness lateness_of<rule_applied>() {
  return {late::heard, late::dropped};
}
template <>
constexpr lateness lateness_of<record_credit>() {
  return {late::heard, late::dropped};
}
template <>
constexpr lateness lateness_of<hooks_ready>() {
  return {late::heard, late::heard};
}
template <>
constexpr lateness lateness_of<answered>() {
  return {late::heard, late::heard};
}
template <>
constexpr lateness lateness_of<hooks_ended>() {
  return {late::heard, late::heard};
}
/// At the end, the caller hears of the result.
template <>
constexpr lateness lateness_of<run_until>() {
  return {late::heard, late::dropped};
}
template <>
constexpr lateness lateness_of<read_variables>() {
  return {late::heard, late::dropped};
}
/// The next attempt asks again.
template <>
constexpr lateness lateness_of<variables_read>() {
  return {late::dropped, late::dropped};
}
template <>
constexpr lateness lateness_of<request>() {
  return {late::heard, late::dropped};
}

}  // namespace troupe
