// Draws a world in which turns and messages take time, for a recipe whose job and troubles are already drawn.
#include "pipeline/random_faults/draw_recipe.hpp"

#include <algorithm>
#include <set>

namespace troupe::test::random_faults {

namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

duration_range draw_range(dice& d, microseconds most) {
  const microseconds to{1 + d.up_to(most.count())};
  return {microseconds{d.in_percent(50) ? to.count() / 2 : 0}, to};
}

void draw_costs(recipe& r, dice& d) {
  // A cost shrinks with the number of steps, so that a long job also takes only seconds.
  const microseconds most{std::clamp<int64_t>(1'000'000 / r.max_steps, 2'000, 20'000)};
  for (const char* node :
       {"infeed", "replica", "reducer", "outfeed", "checkpoint_writer", "summary_writer", "evaluator",
        "evaluator/infeed", "evaluator/replica", "evaluator/outfeed", "callbacks", "chief"})
    if (d.in_percent(50))
      r.conditions.cost[node] = draw_range(d, most);
  if (d.in_percent(20))  // Makes one node slower than the others.
    r.conditions.cost[draw_node(r, d)] = draw_range(d, 4 * most);
}

std::string host(int64_t h) { return "host/" + std::to_string(h); }

void draw_places(recipe& r, dice& d) {
  if (!d.in_percent(60))
    return;
  for (int32_t h = 0; h < r.hosts; ++h)
    r.conditions.place["infeed/" + std::to_string(h)] = host(h);
  for (int64_t i = 0; i < r.replicas; ++i)
    r.conditions.place["replica/" + std::to_string(i)] = host(i * r.hosts / r.replicas);
  // Every node has its own place; chief, outfeed and summary writer share one (docs/actors.md).
  if (d.in_percent(40)) {
    for (int64_t i = 0; i < r.replicas; ++i)
      r.conditions.place["replica/" + std::to_string(i)] = "replica/" + std::to_string(i);
    for (const char* node : {"reducer", "checkpoint_writer", "callbacks", "evaluator"})
      r.conditions.place[node] = node;
  }
  r.conditions.link = draw_range(d, milliseconds{d.of({1, 5, 50})});
}

/// Replicas of several places share no memory.
bool are_apart(const recipe& r) {
  std::set<std::string> places;
  for (int64_t i = 0; i < r.replicas; ++i)
    if (const auto place = r.conditions.place.find("replica/" + std::to_string(i)); place != r.conditions.place.end())
      places.insert(place->second);
  return places.size() > 1;
}

std::string draw_place(const recipe& r, dice& d) {
  auto place = r.conditions.place.begin();
  std::advance(place, d.between(0, static_cast<int64_t>(r.conditions.place.size()) - 1));
  return place->second;
}

trouble draw_timed_trouble(const recipe& r, dice& d) {
  using kind = trouble_kind;
  trouble t;
  t.when = draw_moment(r, d, d.in_percent(60));
  t.what = d.of({kind::busy, kind::busy, kind::suspended, kind::cut, kind::cut, kind::slow_disk, kind::host_death});
  if (r.conditions.place.empty() && (t.what == kind::cut || t.what == kind::host_death))
    t.what = kind::busy;
  if (!r.keeps && t.what == kind::slow_disk)
    t.what = kind::suspended;
  t.lasts = milliseconds{1 + d.up_to(20'000)};  // Shorter than every deadline, so that no job may fail.
  if (t.what == kind::busy)
    t.node = draw_node(r, d);
  if (t.what == kind::cut)
    t.place = draw_place(r, d);
  if (t.what == kind::slow_disk)
    t.each = milliseconds{1 + d.up_to(300)};
  if (t.what == kind::host_death) {
    t.place = host(d.between(0, r.hosts - 1));
    t.lasts = {};
  }
  return t;
}

}  // namespace

recipe draw_timed_recipe(uint64_t seed) { return with_time(draw_recipe(seed)); }

recipe draw_group_recipe(uint64_t seed) {
  dice d{seed ^ 0x726563697065u};
  auto r = draw_recipe(seed, group_recipe{.replicas = d.of({1, 1, 2})});
  return d.in_percent(40) ? with_time(std::move(r)) : r;
}

recipe with_time(recipe r) {
  dice d{~r.seed};
  r.conditions.order = d.of({turn_order::uniform, turn_order::uniform, turn_order::priorities, turn_order::starving});
  if (r.conditions.order == turn_order::starving)
    r.conditions.starved = draw_node(r, d);
  r.conditions.priority_changes = static_cast<int32_t>(d.between(0, 6));
  draw_costs(r, d);
  draw_places(r, d);
  r.reducers = r.reducers || are_apart(r);
  for (auto& run : r.disturbed) {
    if (d.in_percent(25))
      run.wall_clock_s = d.between(-7'200, 7'200);
    for (int64_t more = d.of({0, 1, 1, 2}); more > 0; --more) {
      auto t = draw_timed_trouble(r, d);
      const auto at = run.troubles.begin() + d.between(0, static_cast<int64_t>(run.troubles.size()));
      run.troubles.insert(at, std::move(t));
    }
  }
  return r;
}

}  // namespace troupe::test::random_faults
