#include "tests/simulation/recipe_limits.hpp"

#include <algorithm>

namespace troupe::test::random_faults {

namespace {

constexpr int64_t hour_ms = 3'600'000;

std::string outside(const std::string& name, int64_t value, int64_t least, int64_t most) {
  return value >= least && value <= most ? std::string{}
                                         : name + " is " + std::to_string(value) + ": wanted " + std::to_string(least)
                                               + " to " + std::to_string(most);
}

std::string outside(const std::string& name, const duration_range& range) {
  const bool possible = range.least.count() >= 0 && range.least <= range.most && range.most <= std::chrono::hours{1};
  return possible ? std::string{} : name + ": wanted [least, most] in microseconds, from 0 to an hour";
}

std::string no_node(const std::string& name, const std::string& node) {
  static const std::map<std::string, bool> known{{"infeed", true},
                                                 {"replica", true},
                                                 {"reducer", true},
                                                 {"outfeed", true},
                                                 {"chief", true},
                                                 {"checkpoint_writer", true},
                                                 {"summary_writer", true},
                                                 {"summary_writer/eval", true},
                                                 {"callbacks", true},
                                                 {"evaluator", true},
                                                 {"evaluator/infeed", true},
                                                 {"evaluator/replica", true},
                                                 {"evaluator/outfeed", true}};
  if (node.empty() || entry_of(known, node))
    return {};
  std::string all;
  for (const auto& [known_name, unused] : known)
    all += (all.empty() ? "" : ", ") + known_name;
  return name + " is \"" + node + "\": wanted a node, with or without its number: " + all;
}

}  // namespace

std::string impossible(const recipe& r) {
  std::vector<std::string> found{outside("job.hosts", r.hosts, 1, 64),
                                 outside("job.replicas", r.replicas, 1, 1'024),
                                 outside("job.shards", r.shards.value_or(1), 1, 4'096),
                                 outside("job.max_steps", r.max_steps, 1, 100'000),
                                 outside("job.batches", r.batches.value_or(1), 1, 100'000),
                                 outside("job.recovers", r.recovers, 0, 1'000),
                                 outside("job.save_steps", r.save_steps.value_or(1), 1, 100'000),
                                 outside("job.keep_max", r.keep_max, 0, 1'000),
                                 outside("job.summary_steps", r.summary_steps, 0, 100'000),
                                 outside("job.log_steps", r.log_steps, 1, 100'000),
                                 outside("job.eval_steps", r.eval_steps.value_or(1), 1, 100'000),
                                 outside("hook.gate_every", r.gate_every, 0, 100'000),
                                 outside("hook.watch_every", r.watch_every, 0, 100'000),
                                 outside("hook.takes_ms", r.hook_ms, 0, hour_ms),
                                 outside("world.read_ms", r.read_ms, 0, hour_ms),
                                 outside("world.priority_changes", r.conditions.priority_changes, 0, 10'000),
                                 outside("world.link_us", r.conditions.link),
                                 no_node("world.starved", r.conditions.starved),
                                 no_node("world.slow_node", r.slow_node)};
  for (const auto& [node, cost] : r.conditions.cost) {
    found.push_back(no_node("world.cost_us", node));
    found.push_back(outside("world.cost_us." + node, cost));
  }
  for (const auto& [node, place] : r.conditions.place)
    found.push_back(no_node("world.place", node));
  for (const auto& run : r.disturbed)
    for (const auto& t : run.troubles) {
      found.push_back(outside("run.trouble.lasts_ms", t.lasts.count(), 0, 24 * hour_ms));
      found.push_back(outside("run.trouble.each_ms", t.each.count(), 0, hour_ms));
      found.push_back(outside("run.trouble.nth", t.nth, 1, 1'000'000));
      found.push_back(no_node("run.trouble.node", t.node));
    }
  const auto first = std::find_if(found.begin(), found.end(), [](const std::string& text) { return !text.empty(); });
  return first == found.end() ? std::string{} : *first;
}

}  // namespace troupe::test::random_faults
