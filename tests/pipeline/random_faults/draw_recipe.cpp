// Draws a recipe from a seed: settings first, then troubles that fit them.
#include "pipeline/random_faults/draw_recipe.hpp"

#include <algorithm>

namespace troupe::test::random_faults {

namespace {

void draw_settings(recipe& r, dice& d) {
  r.hosts = static_cast<int32_t>(d.of({1, 1, 1, 1, 1, 2, 2, 3}));
  r.replicas = r.hosts == 1 ? d.of({1, 1, 2, 2, 3, 4}) : r.hosts == 2 ? d.of({2, 2, 4}) : 3;
  if (r.replicas != 3 && d.in_percent(40))
    r.shards = r.replicas * d.between(1, 2);
  r.max_steps = d.in_percent(4) ? d.between(200, 600) : d.between(4, 48);
  if (d.in_percent(25))
    r.batches = d.between(r.hosts, r.hosts * r.max_steps + r.hosts);
  r.keeps = !d.in_percent(4);
  r.recovers = d.in_percent(60) ? d.between(1, 5) : 0;
  if (const auto how = d.between(1, 10); r.keeps && how <= 8)
    r.save_steps = d.between(2, 14);
  else if (r.keeps && how == 9)
    r.save_secs = static_cast<double>(d.between(1, 30));
  r.keep_max = d.between(1, 4);
  if (r.keeps && d.in_percent(40))
    r.summary_steps = d.between(1, 7);
  r.log_steps = d.between(1, 9);
  r.evaluates = (r.save_steps || r.save_secs) && d.in_percent(55);
  r.when = d.in_percent(60) ? evaluation_mode::waits : evaluation_mode::beside;
  r.throttle_secs = d.in_percent(80) ? 0 : 1e6;
  if (d.in_percent(50))
    r.eval_steps = d.between(1, 3);
  r.hooks = d.in_percent(65);
  if (!r.hooks)
    return;
  r.gate_every = d.in_percent(40) ? d.between(1, 12) : 0;
  r.watch_every = d.in_percent(60) ? d.between(1, 5) : 0;
  if (d.in_percent(15))
    r.hook_saves_at = d.between(0, r.max_steps);
  if (d.in_percent(10))
    r.hook_stops_at = d.between(0, r.max_steps);
  r.hook_holds.saved = (r.save_steps || r.save_secs) && d.in_percent(20);
  r.hook_holds.evaluated = r.evaluates && d.in_percent(35);
  if ((r.hook_holds.saved || r.hook_holds.evaluated) && d.in_percent(40))
    r.hook_stops_on_fact_from = d.between(0, r.max_steps);
  r.hook_observes = d.in_percent(30);
}

/// Draws when the groups break; at least one stays. Uses dice of its own.
void draw_groups(recipe& r, group_recipe g, dice d) {
  r.hosts = 1;
  r.replicas = 3 * g.replicas;
  r.shards = {};
  g.mixture_falls = d.in_percent(50);
  g.deaths_too = d.in_percent(50);
  for (const size_t which : {2, 2, 1, 0})
    if (auto& breaks = g.breaks[which]; d.in_percent(30))
      breaks = d.between(0, r.max_steps - 1);
  if (g.leaves(0) && g.leaves(1) && g.leaves(2))
    g.breaks[1].reset();
  g.breaks_alone = d.in_percent(50);
  for (const size_t which : {2, 1, 0})
    if (d.in_percent(which == 0 ? 10 : 35))
      g.retires[which] = d.between(0, r.max_steps);
  r.groups = g;
}

/// Uses dice of its own, so that these settings do not change the rest of a seed's recipe.
void draw_judgement(recipe& r, dice& d) {
  const bool saves = r.save_steps || r.save_secs;
  if (r.evaluates && d.in_percent(30))
    r.eval_every = d.between(1, 9);
  r.listens = saves && d.in_percent(25);
  if (r.listens && d.in_percent(25))
    r.listener_stops_from = d.between(1, r.max_steps);
  if (r.hooks && d.in_percent(20))
    r.hook_scales_at = d.between(1, r.max_steps);
}

/// Uses dice of its own. Some disk faults then are in exports.
void draw_exports(recipe& r, dice d) {
  if (!r.evaluates || !d.in_percent(35))
    return;
  r.exports_kept = d.between(1, 3);
  for (auto& run : r.disturbed)
    for (auto& t : run.troubles)
      if (t.what == trouble_kind::disk_fault && d.in_percent(50))
        t.path_contains = "/export/";
}

/// Uses dice of its own. Some outages last longer than several delays between attempts, some longer than all of them.
void draw_outages(recipe& r, dice d) {
  for (auto& run : r.disturbed) {
    for (auto& t : run.troubles)
      if (t.what == trouble_kind::input_fault && t.unavailable && !t.throws && t.input <= input_place::read
          && d.in_percent(60)) {
        t.lasts = std::chrono::milliseconds{d.of({500, 1'500, 3'000, 8'000, 20'000, 60'000})};
        t.for_ever = false;
      }
    if (r.recovers == 0 || !d.in_percent(8))
      continue;
    trouble away{.what = trouble_kind::input_fault,
                 .when = {moment::progress, d.between(0, r.max_steps - 1), d.up_to(60)},
                 .unavailable = true};
    away.host = static_cast<int32_t>(d.between(0, r.hosts - 1));
    away.lasts = std::chrono::milliseconds{d.of({500, 1'500, 3'000, 8'000, 20'000, 60'000})};
    run.troubles.push_back(away);
  }
}

}  // namespace

std::string draw_node(const recipe& r, dice& d) {
  std::vector<std::string> nodes{"outfeed", "outfeed"};
  for (int32_t h = 0; h < r.hosts; ++h)
    nodes.push_back("infeed/" + std::to_string(h));
  for (int64_t i = 0; i < r.replicas; ++i)
    nodes.push_back("replica/" + std::to_string(i));
  if (r.reducers && (r.groups ? r.groups->replicas > 1 : r.replicas > 1))
    nodes.push_back("reducer");
  if (r.keeps)
    nodes.insert(nodes.end(), {"checkpoint_writer", "checkpoint_writer"});
  if (r.summary_steps > 0)
    nodes.push_back("summary_writer");
  if (r.hooks)
    nodes.push_back("callbacks");
  if (r.evaluates)
    nodes.insert(nodes.end(), {"evaluator", "evaluator/infeed/0", "evaluator/replica/0", "evaluator/outfeed",
                               "summary_writer/eval"});
  return nodes[static_cast<size_t>(d.between(0, static_cast<int64_t>(nodes.size()) - 1))];
}

moment draw_moment(const recipe& r, dice& d, bool first) {
  if (!first && d.in_percent(50))
    return {moment::trouble_before, 0, d.up_to(400)};
  if (d.in_percent(25))
    return {moment::beginning, 0, 1 + d.up_to(300)};
  return {moment::progress, d.between(0, r.max_steps), d.up_to(60)};
}

namespace {

void draw_disk_fault(trouble& t, dice& d) {
  using op = file_operation;
  t.operation = d.of({op::any, op::create, op::append, op::sync, op::rename, op::sync_directory, op::list, op::remove,
                      op::open, op::read});
  t.path_contains = d.of<const char*>({"", "", "model.ckpt", "events", "checkpoint"});
  t.nth = 1 + d.up_to(20);
}

void draw_input_fault(const recipe& r, trouble& t, dice& d) {
  using place = input_place;
  t.input = d.of({place::read, place::read, place::read, place::save, place::save, place::nan, place::label,
                  place::iterate, place::restore});
  if (r.evaluates && d.in_percent(20))
    t.input = d.of({place::eval_iterate, place::eval_read});
  if (r.groups && t.input == place::nan)
    // A NaN that is read only once would make a group leave that stays in the undisturbed run.
    t.input = place::label;
  t.host = t.input >= place::eval_iterate ? 0 : static_cast<int32_t>(d.between(0, r.hosts - 1));
  t.throws = d.in_percent(40);
  t.for_ever = d.in_percent(30);
  t.unavailable = d.in_percent(40);
  const bool rare = t.input == place::iterate || t.input == place::restore || t.input == place::eval_iterate;
  t.nth = rare ? 1 : 1 + d.up_to(12);
  if (rare)
    t.when = {moment::beginning, 0, 0};
}

trouble draw_trouble(const recipe& r, dice& d, bool first) {
  using kind = trouble_kind;
  trouble t;
  t.when = draw_moment(r, d, first);
  t.what = d.of({kind::kill, kind::kill, kind::kill, kind::kill, kind::stop, kind::stop, kind::signal, kind::save,
                 kind::abort, kind::power_loss, kind::power_loss, kind::disk_fault, kind::disk_fault, kind::disk_full,
                 kind::disk_death, kind::input_fault, kind::input_fault, kind::input_fault, kind::hook_fault});
  t.tears = d.in_percent(50);
  if (t.what == kind::hook_fault && !r.hooks)
    t.what = kind::input_fault;
  if (t.what >= kind::disk_fault && t.what <= kind::disk_death && !r.keeps)
    t.what = kind::kill;
  if (t.what == kind::kill)
    t.node = draw_node(r, d);
  if (t.what == kind::disk_fault)
    draw_disk_fault(t, d);
  if (t.what == kind::input_fault)
    draw_input_fault(r, t, d);
  if (t.what == kind::hook_fault) {
    t.hook = d.of({hook_place::begin, hook_place::at, hook_place::on_event, hook_place::end, hook_place::on_abort});
    t.nth = t.hook == hook_place::at || t.hook == hook_place::on_event ? d.between(1, 6) : 1;
    if (t.hook == hook_place::begin)
      t.when = {moment::beginning, 0, 0};
  }
  return t;
}

/// Draws deaths that lead to new attempts. They exceed the budget if no commits come between them. Late blocks of
/// earlier attempts follow some of them, and sometimes the input fails for good just before the last death.
run_recipe draw_deaths(const recipe& r, dice& d) {
  run_recipe run{d.draw() % 1'000'000, {}};
  std::vector<int64_t> steps(static_cast<size_t>(d.between(1, 2 * r.recovers + 2)));
  for (auto& step : steps)
    step = d.between(0, r.max_steps - 1);
  std::sort(steps.begin(), steps.end());
  const bool breaks_off = d.in_percent(30);
  for (size_t i = 0; i < steps.size(); ++i) {
    const bool last = i + 1 == steps.size();
    moment when{moment::progress, steps[i], d.up_to(60)};
    if (last && breaks_off) {
      trouble t{
          .what = trouble_kind::input_fault, .when = when, .host = static_cast<int32_t>(d.between(0, r.hosts - 1))};
      t.input = d.of({r.groups ? input_place::label : input_place::nan, input_place::label, input_place::read});
      run.troubles.push_back(t);
      when = {moment::trouble_before, 0, d.up_to(200)};
    }
    const auto replica = "replica/" + std::to_string(d.between(0, r.replicas - 1));
    const auto infeed = "infeed/" + std::to_string(d.between(0, r.hosts - 1));
    run.troubles.push_back({.what = trouble_kind::kill, .when = when, .node = d.in_percent(50) ? replica : infeed});
    if (!last && d.in_percent(30))
      run.troubles.push_back(
          {.what = trouble_kind::late_block, .when = {moment::trouble_before, 0, d.up_to(100)}, .node = replica});
  }
  return run;
}

}  // namespace

recipe draw_recipe(uint64_t seed) { return draw_recipe(seed, {}); }

recipe draw_recipe(uint64_t seed, std::optional<group_recipe> groups) {
  dice d{seed};
  recipe r;
  r.seed = seed;
  draw_settings(r, d);
  r.reducers = dice{seed ^ 0x72656475636572u}.in_percent(50);
  if (groups)
    draw_groups(r, *groups, dice{seed ^ 0x67726f757073u});
  dice of_judgement{seed ^ 0x6a756467656d656eu};
  draw_judgement(r, of_judgement);
  if (d.in_percent(25))
    r.slow_node = draw_node(r, d);
  if (d.in_percent(15))
    r.read_ms = d.of({1, 5, 20, 300});
  if (r.hooks && d.in_percent(15))
    r.hook_ms = d.of({1, 20, 100});
  const int64_t runs = d.of({1, 1, 1, 2, 2, 3});
  for (int64_t i = 0; i < runs; ++i) {
    run_recipe run{.schedule = d.draw() % 1'000'000};
    const int64_t troubles = d.of({0, 1, 1, 1, 1, 2, 2, 3});
    for (int64_t k = 0; k < troubles; ++k)
      run.troubles.push_back(draw_trouble(r, d, k == 0));
    r.disturbed.push_back(std::move(run));
  }
  if (r.recovers > 0 && d.in_percent(30))
    r.disturbed.insert(r.disturbed.begin(), draw_deaths(r, d));
  draw_exports(r, dice{seed ^ 0x6578706f7274u});
  dice of_loops{seed ^ 0x6c6f6f7073u};
  r.loop = of_loops.of({1, 3, 4, 7, 100, 0});
  // How long a loop of a time is depends on what the job has met, and with it what lasts a loop.
  r.carries = !r.groups && r.loop > 0 && of_loops.in_percent(60);
  dice of_modes{seed ^ 0x6d6f646573u};
  using by = input_mode;
  if (!r.groups && r.replicas > 1)
    r.input_mode = of_modes.of({by::per_host, by::per_host, by::per_core, by::per_replica, by::sliced});
  dice of_traces{seed ^ 0x747261636573u};
  if (r.hooks && of_traces.in_percent(30))
    r.hook_traces_every = of_traces.of({3, 7});
  r.input_function = !r.groups && of_modes.in_percent(25);
  dice of_turns{seed ^ 0x7475726e73u};
  if (r.evaluates) {
    r.eval_hosts = r.carries ? 1 : static_cast<int32_t>(of_turns.of({1, 1, 1, 2}));
    r.eval_replicas = r.eval_hosts * static_cast<int32_t>(of_turns.of({1, 1, 2, 3}));
  }
  dice of_calls{seed ^ 0x63616c6c73u};
  if (!r.groups && of_calls.in_percent(40))
    r.calls_every = r.loop > 0 ? of_calls.of({1, 1, 2, 3, 7}) : 1;
  draw_outages(r, dice{seed ^ 0x6f7574616765u});
  return r;
}

}  // namespace troupe::test::random_faults
