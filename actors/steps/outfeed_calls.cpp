// Host calls: the outfeed makes those of a step when it passes the step on, and says how many entries it has room for.
#include "actors/steps/outfeed.hpp"
#include "plan/edge_kinds.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

/// None is early: a replica has no room before the attempt has begun here.
void outfeed_state::on_called(const block& x) {
  if (x.attempt != attempt)
    return;
  for (auto& g : groups)
    if (g.add(x))
      return give_room();
}

std::vector<call_set> outfeed_state::calls_due() const {
  if (call_lanes.empty())
    return {};
  std::vector<call_set> due;
  for (const auto& g : groups)
    due.push_back(g.calls_due(step, step - loops.at(step).begin_of(step)));
  return due;
}

expected<std::vector<std::vector<summary_value>>> outfeed_state::make_calls(const std::vector<call_set>& due) {
  std::vector<std::vector<summary_value>> recorded;
  for (size_t g = 0; g < due.size(); ++g) {
    if (due[g] == 0)
      continue;
    const auto& of = options.groups[g];
    auto values = run_calls(of.calls, due[g], of.mode, step + 1, groups[g].take_called(step));
    if (!values)
      return fail(values.error());
    if (values->empty())
      continue;
    recorded.resize(groups.size());
    recorded[g] = std::move(*values);
  }
  return recorded;
}

/// There is room for one entry of each replica; for more once it is known how large they are.
void outfeed_state::give_room() {
  const auto& credit = row_of(edge_kind::call).credit;
  for (const auto& g : groups)
    for (const auto& entries : g.called()) {
      auto& lane = call_lanes[entries.edge];
      const int64_t fit = entries.bytes_max > 0 ? *credit.bytes / entries.bytes_max : 1;
      const int64_t until = entries.taken + std::clamp(fit, int64_t{1}, *credit.messages);
      if (!lane.replica || until <= lane.granted)
        continue;
      lane.granted = until;
      self->send(lane.replica, pull{attempt, entries.edge, until, step, 1});
    }
}

}  // namespace troupe
