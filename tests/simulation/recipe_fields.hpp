// The fields of a recipe with their names in a scenario: reading, writing and shrinking recipes all use this one list.
#pragma once

#include "pipeline/random_faults/recipe.hpp"

namespace troupe::test::random_faults {

// A function calls its visitor as v("name", field) for each field, and as v.part("name", f) for a table of fields.

template <class V>
void job_fields(V& v, recipe& r) {
  v("hosts", r.hosts);
  v("replicas", r.replicas);
  v("shards", r.shards);
  v("reducers", r.reducers);
  v("max_steps", r.max_steps);
  v("batches", r.batches);
  v("keeps", r.keeps);
  v("recovers", r.recovers);
  v("save_steps", r.save_steps);
  v("save_secs", r.save_secs);
  v("keep_max", r.keep_max);
  v("summary_steps", r.summary_steps);
  v("log_steps", r.log_steps);
  v("evaluates", r.evaluates);
  v("when", r.when);
  v("throttle_secs", r.throttle_secs);
  v("eval_steps", r.eval_steps);
  v("eval_every", r.eval_every);
  v("exports_kept", r.exports_kept);
  v("listens", r.listens);
  v("listener_stops_from", r.listener_stops_from);
}

template <class V>
void hook_fields(V& v, recipe& r) {
  v("there", r.hooks);
  v("gate_every", r.gate_every);
  v("watch_every", r.watch_every);
  v("saves_at", r.hook_saves_at);
  v("stops_at", r.hook_stops_at);
  v("holds_saves", r.hook_holds.saved);
  v("holds_evaluations", r.hook_holds.evaluated);
  v("stops_on_fact_from", r.hook_stops_on_fact_from);
  v("traces_every", r.hook_traces_every);
  v("observes", r.hook_observes);
  v("scales_at", r.hook_scales_at);
  v("takes_ms", r.hook_ms);
}

template <class V>
void world_fields(V& v, recipe& r) {
  v("order", r.conditions.order);
  v("priority_changes", r.conditions.priority_changes);
  v("starved", r.conditions.starved);
  v("slow_node", r.slow_node);
  v("read_ms", r.read_ms);
  v("cost_us", r.conditions.cost);
  v("place", r.conditions.place);
  v("link_us", r.conditions.link);
}

template <class V>
void trouble_fields(V& v, trouble& t) {
  v("what", t.what);
  v("after", t.when.after);
  v("step", t.when.step);
  v("turns", t.when.turns);
  v("node", t.node);
  v("place", t.place);
  v("lasts_ms", t.lasts);
  v("each_ms", t.each);
  v("operation", t.operation);
  v("path_contains", t.path_contains);
  v("tears", t.tears);
  v("throws", t.throws);
  v("for_ever", t.for_ever);
  v("unavailable", t.unavailable);
  v("input", t.input);
  v("host", t.host);
  v("hook", t.hook);
  v("nth", t.nth);
}

template <class V>
void run_fields(V& v, run_recipe& r) {
  v("schedule", r.schedule);
  v("wall_clock_s", r.wall_clock_s);
  v.list("trouble", r.troubles, [](V& inner, trouble& t) { trouble_fields(inner, t); });
}

template <class V>
void recipe_fields(V& v, recipe& r) {
  v.part("job", [&](V& inner) { job_fields(inner, r); });
  v.part("hook", [&](V& inner) { hook_fields(inner, r); });
  v.part("world", [&](V& inner) { world_fields(inner, r); });
  v.list("run", r.disturbed, [](V& inner, run_recipe& run) { run_fields(inner, run); });
}

}  // namespace troupe::test::random_faults
