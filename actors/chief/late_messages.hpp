// Messages that come late to a chief: those of an attempt that has ended, and those that come while the job ends.
#pragma once

#include "messages/interfaces.hpp"

namespace troupe {

enum class late : uint8_t {
  heard,     ///< It means what it always means.
  dropped,
  unleased,  ///< A checkpoint whose attempt has failed meanwhile: the next one commits or verifies it again, and this lease ends.
};

struct lateness {
  late in_another_attempt, at_the_end;  ///< The end: event files are closed, hooks see it, nodes go home.
};

/// A row for each message of a chief but its own deadlines; one without a row does not compile.
template <class M>
constexpr lateness lateness_of() = delete;
template <> constexpr lateness lateness_of<started>() { return {late::dropped, late::dropped}; }
template <> constexpr lateness lateness_of<prepared>() { return {late::dropped, late::dropped}; }
template <> constexpr lateness lateness_of<newest>() { return {late::dropped, late::dropped}; }
template <> constexpr lateness lateness_of<restored>() { return {late::dropped, late::dropped}; }
template <> constexpr lateness lateness_of<progress>() { return {late::dropped, late::dropped}; }
template <> constexpr lateness lateness_of<stream_end>() { return {late::dropped, late::dropped}; }
template <> constexpr lateness lateness_of<step_report>() { return {late::dropped, late::dropped}; }
template <> constexpr lateness lateness_of<input_failed>() { return {late::dropped, late::dropped}; }
template <> constexpr lateness lateness_of<input_warned>() { return {late::dropped, late::dropped}; }
template <> constexpr lateness lateness_of<log_replaced>() { return {late::heard, late::dropped}; }
/// Of an attempt that has ended it may be of a node that lives on; in the end, of an event file or a hook.
template <> constexpr lateness lateness_of<failure>() { return {late::heard, late::heard}; }
template <> constexpr lateness lateness_of<flushed>() { return {late::heard, late::dropped}; }
template <> constexpr lateness lateness_of<halted>() { return {late::dropped, late::dropped}; }
template <> constexpr lateness lateness_of<standing>() { return {late::heard, late::dropped}; }
template <> constexpr lateness lateness_of<committed>() { return {late::unleased, late::dropped}; }
template <> constexpr lateness lateness_of<save_failed>() { return {late::dropped, late::dropped}; }
template <> constexpr lateness lateness_of<late_properties_kept>() { return {late::dropped, late::dropped}; }
template <> constexpr lateness lateness_of<state_shown>() { return {late::dropped, late::dropped}; }
/// Evaluations, exports and predicates are of the job.
template <> constexpr lateness lateness_of<batches_evaluated>() { return {late::heard, late::dropped}; }
template <> constexpr lateness lateness_of<evaluated>() { return {late::heard, late::dropped}; }
template <> constexpr lateness lateness_of<exported>() { return {late::heard, late::dropped}; }
template <> constexpr lateness lateness_of<rule_applied>() { return {late::heard, late::dropped}; }
template <> constexpr lateness lateness_of<record_credit>() { return {late::heard, late::dropped}; }
template <> constexpr lateness lateness_of<hooks_ready>() { return {late::heard, late::heard}; }
template <> constexpr lateness lateness_of<answered>() { return {late::heard, late::heard}; }
template <> constexpr lateness lateness_of<hooks_ended>() { return {late::heard, late::heard}; }
template <> constexpr lateness lateness_of<request>() { return {late::heard, late::dropped}; }

}  // namespace troupe
