#include "tests/simulation/smaller.hpp"

#include <algorithm>

namespace troupe::test::random_faults {

namespace {

/// All recipes that lack one thing that `r` has; those that drop the most come first.
std::vector<recipe> with_less(const recipe& r) {
  std::vector<recipe> all;
  const auto with = [&](auto change) {
    recipe less = r;
    change(less);
    all.push_back(std::move(less));
  };
  for (size_t i = 0; r.disturbed.size() > 1 && i < r.disturbed.size(); ++i)
    with([i](recipe& x) { x.disturbed.erase(x.disturbed.begin() + static_cast<std::ptrdiff_t>(i)); });
  for (size_t i = 0; i < r.disturbed.size(); ++i)
    for (size_t k = 0; k < r.disturbed[i].troubles.size(); ++k)
      with([i, k](recipe& x) {
        x.disturbed[i].troubles.erase(x.disturbed[i].troubles.begin() + static_cast<std::ptrdiff_t>(k));
      });
  const auto drop = [&](auto member, auto nothing) {
    if (r.*member != nothing)
      with([&](recipe& x) { x.*member = nothing; });
  };
  drop(&recipe::evaluates, false);
  if (r.hooks)
    with([](recipe& x) {
      const recipe none;
      x.hooks = false;
      x.gate_every = x.watch_every = x.hook_ms = 0;
      x.hook_saves_at = x.hook_stops_at = x.hook_stops_on_fact_from = std::nullopt;
      x.hook_holds = none.hook_holds;
      x.hook_observes = false;
    });
  drop(&recipe::gate_every, 0);
  drop(&recipe::watch_every, 0);
  drop(&recipe::hook_observes, false);
  drop(&recipe::hook_saves_at, std::nullopt);
  drop(&recipe::hook_stops_at, std::nullopt);
  drop(&recipe::summary_steps, 0);
  drop(&recipe::slow_node, std::string{});
  drop(&recipe::read_ms, 0);
  drop(&recipe::hook_ms, 0);
  drop(&recipe::batches, std::nullopt);
  drop(&recipe::shards, std::nullopt);
  drop(&recipe::eval_steps, std::nullopt);
  drop(&recipe::throttle_secs, 0.0);
  if (r.conditions.order != turn_order::uniform)
    with([](recipe& x) { x.conditions.order = turn_order::uniform; });
  if (!r.conditions.place.empty())
    with([](recipe& x) {
      x.conditions.place.clear();
      x.conditions.link = {};
    });
  for (const auto& [node, cost] : r.conditions.cost)
    with([&node = node](recipe& x) { x.conditions.cost.erase(node); });
  for (const auto& [node, place] : r.conditions.place)
    with([&node = node](recipe& x) { x.conditions.place.erase(node); });
  for (size_t i = 0; i < r.disturbed.size(); ++i)
    if (r.disturbed[i].wall_clock_s != 0)
      with([i](recipe& x) { x.disturbed[i].wall_clock_s = 0; });
  if (r.hosts == 1 && r.replicas > 1 && !r.shards)
    with([](recipe& x) { --x.replicas; });
  return all;
}

}  // namespace

smaller_recipe make_smaller(const recipe& from, const std::string& broken, int64_t plays_max) {
  smaller_recipe least{from, {}, 0};
  for (bool found = true; found && least.plays < plays_max;) {
    found = false;
    for (auto& less : with_less(least.what)) {
      if (++least.plays > plays_max)
        break;
      auto findings = judge(play(less));
      if (std::none_of(findings.begin(), findings.end(), [&](const finding& f) { return f.rule == broken; }))
        continue;
      least.what = std::move(less);
      least.findings = std::move(findings);
      found = true;
      break;
    }
  }
  return least;
}

}  // namespace troupe::test::random_faults
