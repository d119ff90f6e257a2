// Traces: what each actor of a job did, and what it waited for, in a few steps.
// Not needed to begin with.
//
//   auto traces = tr::trace_steps({.file = "trace.json", .first = 100, .steps = 20});   // hooks.hpp
//   tr::train(estimator, {.input = train, .hooks = {*traces}});                         // open in ui.perfetto.dev
//
// Plain data. Any thread may call.
#pragma once

#include <troupe/api.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace troupe {

/// A part of an actor's time.
struct trace_span {
  double begin = 0;       ///< Seconds since the trace begins.
  double seconds = 0;     ///< Above 0.
  bool works = true;      ///< Handling a message; else waiting.
  std::string what = {};  ///< The message's name, or what the actor lacks (`actor_report::waits`): "block", "peers".
  int64_t step = -1;      ///< The step at hand, of replicas; -1: none.
  friend bool operator==(const trace_span&, const trace_span&) = default;
};

/// The time of one actor, without gaps but for spans that were left out.
struct trace_lane {
  std::string actor = {};
  std::vector<trace_span> spans = {};
  /// How many spans at the end are missing: an actor records 8,192. -1: it did not answer within a second.
  int64_t left_out = 0;
  double busy_seconds() const;
  double waiting_seconds() const;
  friend bool operator==(const trace_lane&, const trace_lane&) = default;
};

/// From the moment when the first replica comes to step `first` to the moment when the last one has made `end` - 1.
struct job_trace {
  int64_t first = 0, end = 0;  ///< Steps [first, end).
  double seconds = 0;
  std::vector<trace_lane> lanes = {};
  friend bool operator==(const job_trace&, const job_trace&) = default;
};

/// The trace format of Chrome, which ui.perfetto.dev and chrome://tracing open: a lane for each actor; on those of
/// replicas spans are within those of their steps. Times are microseconds.
TROUPE_API std::string to_chrome_trace(const job_trace& t);
/// A drawing for people: a line for each actor, of `columns` equal parts of the time, each with what took the most of
/// it: # work; i, p, r, a for input, peers, room and arena that it waits for; a blank for the horizon, or nothing. Its
/// form may change.
TROUPE_API std::string to_text(const job_trace& t, size_t columns = 80);

}  // namespace troupe
