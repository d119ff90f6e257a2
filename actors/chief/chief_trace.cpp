// A trace of some steps: all actors record their time from a grant to the step on which it ends, and hooks get it.
#include "actors/chief/chief_subjects.hpp"
#include "messages/counted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

namespace troupe {

namespace {

constexpr std::chrono::milliseconds answers_max{1'000};

/// A node that has not handed over what it recorded for an earlier trace is not asked again.
void ask_all(chief_state& c, const probe& what) {
  for (const auto& who : c.nodes.members())
    if (who.handle && !c.tracing.owes(who.name)) {
      if (what.records == probe::ends)
        c.tracing.sent_to(who.name);
      c.self->send(caf::actor_cast<probed_actor>(who.handle), what);
    }
}

}  // namespace

/// Messages from the chief arrive in their order, so that nodes record before the grant lets them make the first step.
void record_below(chief_state& c, int64_t until) {
  if (!c.callbacks())
    return;
  const auto steps = c.traces.open(c.horizon.until(), until);
  if (!steps)
    return;
  ask_all(c, probe{0, probe::begins, steps->first, steps->end});
  c.spent.record(now_ns_of(c), recorded_spans_max, steps->first, steps->end);
}

bool collect_trace(chief_state& c) {
  if (!c.trains() || c.ending.fails() || !c.traces.complete(c.horizon.reached(), c.horizon.end()))
    return false;
  c.traced = c.traces.close(c.horizon.reached());
  std::vector<std::string> asked;
  for (const auto& who : c.nodes.members())
    if (who.handle)
      asked.push_back(who.name);
  ask_all(c, probe{c.tracing.begin(std::move(asked)), probe::ends});
  c.waiting.arm(chief_wait::trace, answers_max, true);
  return true;
}

void tell_trace(chief_state& c) {
  c.disarm(chief_wait::trace);
  c.traces.forget();
  fact f;
  f.what = fact::trace;
  f.from = c.traced.first;
  f.at = c.traced.end;
  for (const auto& who : c.tracing.asked()) {
    const auto answer = c.tracing.answers().find(who);
    f.recorded.push_back(answer == c.tracing.answers().end() ? standing{.who = who, .recorded = {.left_out = -1}}
                                                             : answer->second);
  }
  f.recorded.push_back({.who = c.options.name, .recorded = c.spent.recorded(now_ns_of(c))});
  c.tracing.withdraw();
  if (f.from < f.at && c.callbacks() && !c.ends())
    c.tell(std::move(f));
}

void drop_trace(chief_state& c) {
  if (c.traces.recorded())
    ask_all(c, probe{c.tracing.begin({}), probe::ends});
  c.traces.forget();
  c.spent.recorded(now_ns_of(c));
  c.disarm(chief_wait::trace);
  c.tracing.withdraw();
}

}  // namespace troupe
