#include "pipeline/random_faults/group_job.hpp"

#include "pipeline/random_faults/run.hpp"
#include "support/wrapped_engine.hpp"

namespace troupe::test::random_faults {

namespace {

/// A candidate that observes a value for hooks.
model observed(const std::string& name, int64_t units) {
  auto source = candidate(name, units);
  source.build = [inner = source.build](graph& g, const features& x, const labels& y, mode m) {
    g.observe(watching_hook::observed, reduce_mean(x["x"]));
    return inner(g, x, y, m);
  };
  return source;
}

/// Makes all replicas of a program from number `first` on break at `step`, also those that are started again.
void break_at(prepared_program& p, int64_t step, size_t first) {
  for (size_t r = first; r < p.engines.size(); ++r)
    p.engines[r] = std::make_shared<broken_engine>(p.engines[r], step);
  p.make_engine = [inner = p.make_engine, step, first](const plan_node& n) {
    return inner(n).map([&](std::unique_ptr<step_engine> made) -> std::unique_ptr<step_engine> {
      if (static_cast<size_t>(n.index) < first)
        return made;
      return std::make_unique<broken_engine>(std::move(made), step);
    });
  };
}

}  // namespace

model evaluated_candidate() { return observed("a", 5); }

std::shared_ptr<prepared_job> prepared_groups(const recipe& r, training_job d) {
  const auto& g = *r.groups;
  hand_written w;
  w.reducers = r.reducers;
  add_two_candidates(w, d.input, static_cast<int32_t>(g.replicas), {observed("a", 5), observed("b", 7)});
  for (auto& group : w.plan.groups)
    group.leaves = g.deaths_too ? leaves_on::numbers_and_death : leaves_on::numbers;
  for (size_t which = 0; which < 3; ++which)
    w.plan.groups[which].retires_at = g.retires[which];
  if (g.mixture_falls)
    w.plan.groups[0].falls_with = {1_group, 2_group};
  std::map<role, int32_t> count;
  for (auto& n : w.plan.nodes)
    if (n.what == role::infeed)
      n.name = "infeed/0";
    else if (n.what == role::replica)
      n.name = "replica/" + std::to_string(static_cast<int32_t>(n.group) * static_cast<int32_t>(g.replicas) + n.index);
    else if (const auto number = count[n.what]++; n.what == role::reducer)
      n.name = number == 0 ? "reducer" : "reducer/" + std::to_string(number);
  if (!d.evaluations.empty())
    w.evaluation("", evaluated_candidate(), 1_group, d.evaluations.front().data.input);
  if (!d.hooks.empty() || !d.saving_listeners.empty())
    w.node(role::callbacks, "callbacks");
  if (d.basis.config.summary_steps > 0)
    w.node(role::summary_writer, "summary_writer");
  w.finish(d.basis.config.saves());
  auto job = w.prepared(std::move(d));
  for (size_t which = 0; which < 3; ++which)
    if (g.breaks[which])
      break_at(job->programs[which], *g.breaks[which], g.breaks_alone ? static_cast<size_t>(g.replicas) - 1 : 0);
  return job;
}

std::string key_of(const std::optional<group_recipe>& g) {
  std::string text;
  if (g) {
    text = std::string{g->mixture_falls ? " falls" : " stays"} + (g->breaks_alone ? " alone" : "");
    for (const auto& at : g->breaks)
      text += " " + std::to_string(at.value_or(-1));
    for (const auto& at : g->retires)
      text += " " + std::to_string(at.value_or(-1));
  }
  return text;
}

std::string prefix_of_survivor(const recipe& r) {
  if (!r.groups)
    return "";
  return !r.groups->leaves(1) ? "a/" : !r.groups->leaves(2) ? "b/" : "mixture/";
}

}  // namespace troupe::test::random_faults
