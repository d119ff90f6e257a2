#include "golden/facts/fact_job.hpp"
#include "support/dice.hpp"

#include <algorithm>

namespace troupe::test::golden_facts {

namespace {

void draw_basis(fact_job& j, dice& d) {
  j.hosts = static_cast<int32_t>(d.of({1, 1, 1, 1, 2, 2, 3}));
  j.replicas = j.hosts == 1 ? d.of({1, 1, 2, 2, 3, 4}) : j.hosts == 2 ? d.of({2, 2, 4}) : 3;
  if (j.replicas != 3 && d.in_percent(40))
    j.shards = j.replicas * d.between(1, 2);
  j.max_steps = d.in_percent(4) ? d.between(150, 300) : d.between(4, 48);
  if (d.in_percent(20))
    j.batches = d.between(j.hosts, j.hosts * j.max_steps + j.hosts);
  if (d.in_percent(85))
    j.save_steps = d.between(2, 14);
  j.keep_max = d.in_percent(70) ? 0 : d.between(1, 4);
  j.summary_steps = d.in_percent(60) ? d.between(1, 7) : 0;
  j.log_steps = d.between(1, 9);
  j.measures = d.in_percent(30);
}

void draw_evaluations(fact_job& j, dice& d) {
  j.evaluates = d.in_percent(60);
  if (!j.evaluates)
    return;
  j.evaluates_beside = d.in_percent(25);
  if (d.in_percent(50))
    j.eval_steps = d.between(1, 3);
  if (d.in_percent(40))
    j.eval_every = d.between(1, 9);
  j.exports = d.in_percent(25);
  j.keeps_best = d.in_percent(30);
  if (d.in_percent(25))
    j.patience = d.between(1, 12);
}

void draw_hooks(fact_job& j, dice& d) {
  j.gate_every = d.in_percent(40) ? d.between(1, 12) : 0;
  j.watch_every = d.in_percent(50) ? d.between(1, 5) : 0;
  j.observes = d.in_percent(30);
  j.sees_last = d.in_percent(30);
  if (d.in_percent(20))
    j.saves_at = d.between(0, j.max_steps);
  if (d.in_percent(20))
    j.scales_at = d.between(1, j.max_steps);
  if (d.in_percent(20))
    j.stops_at = d.between(1, j.max_steps);
  else if (j.save_steps && d.in_percent(15))
    j.stops_on_saved_from = d.between(1, j.max_steps);
  if (j.save_steps && d.in_percent(20))
    j.listener_stops_from = d.in_percent(50) ? INT64_MAX : d.between(1, j.max_steps);
}

void draw_groups(fact_job& j, dice& d) {
  j.groups = true;
  j.hosts = 1;
  j.replicas = d.between(1, 2);
  j.shards = {};
  j.batches = {};
  if (d.in_percent(40))
    j.retires_at = d.between(1, j.max_steps);
  j.leaves = d.in_percent(40);
}

}  // namespace

fact_job draw_fact_job(uint64_t seed) {
  dice d{seed ^ 0x6661637473u};
  fact_job j{.seed = seed};
  draw_basis(j, d);
  if (d.in_percent(15)) {
    draw_groups(j, d);
    return j;
  }
  if (j.save_steps)
    draw_evaluations(j, d);
  if (d.in_percent(65))
    draw_hooks(j, d);
  if (d.in_percent(10))
    j.breaks_at = d.between(0, j.max_steps - 1);
  return j;
}

fact_job draw_mortal_job(uint64_t seed) {
  dice d{seed ^ 0x64656174687366u};
  fact_job j{.seed = seed};
  draw_basis(j, d);
  j.save_steps = d.between(2, 14);
  draw_evaluations(j, d);
  j.measures = j.exports = j.evaluates_beside = false;  // Metrics of training begin anew where an attempt does.
  std::vector<int64_t> at(static_cast<size_t>(d.between(1, 4)));
  for (auto& step : at)
    step = d.between(0, j.max_steps - 1);
  std::sort(at.begin(), at.end());
  for (const int64_t step : at) {
    const auto replica = "replica/" + std::to_string(d.between(0, j.replicas - 1)),
               infeed = "infeed/" + std::to_string(d.between(0, j.hosts - 1));
    j.deaths.push_back({step, j.replicas > 1 && d.in_percent(20) ? "reducer" : d.in_percent(50) ? replica : infeed});
  }
  return j;
}

}  // namespace troupe::test::golden_facts
