#include "pipeline/random_faults/watching_hook.hpp"

#include "pipeline/random_faults/troubled_input.hpp"

namespace troupe::test::random_faults {

bool holds(const recipe& r, job_event::kind what) {
  return (what == job_event::kind::saved && r.hook_holds.saved)
         || (what == job_event::kind::evaluated && r.hook_holds.evaluated);
}

void watching_hook::noted(call c) {
  calls_.push_back(c);
  working();
  for (auto& [what, calls] : armed_)
    if (what.hook == c.where && ++calls == what.nth) {
      happened_.push_back(what);
      throw std::runtime_error(std::string{injected} + ": " + std::string{to_string(c.where)} + " of the hook");
    }
}

troupe::needs watching_hook::begin(int64_t step) {
  if (recipe_.gate_every > 0)
    needs_.push_back({recipe_.gate_every, recipe_.gate_every, true});
  if (recipe_.watch_every > 0)
    needs_.push_back({0, recipe_.watch_every, false});
  if (recipe_.hook_saves_at)
    needs_.push_back({*recipe_.hook_saves_at, 0, false});
  if (recipe_.hook_stops_at)
    needs_.push_back({*recipe_.hook_stops_at, 0, true});
  if (recipe_.hook_scales_at)
    needs_.push_back({*recipe_.hook_scales_at, 0, true});
  start_ = step;
  noted({hook_place::begin, step});
  troupe::needs all{.steps = needs_, .holds = recipe_.hook_holds};
  if (const int64_t every = recipe_.hook_traces_every; every > 0)
    all.traces.push_back({.first = every, .steps = 2, .every = every});
  if (recipe_.hook_observes)
    all.values.push_back(observed_value());
  return all;
}

void watching_hook::on_step(const step_facts& facts, job_control& job) {
  noted({hook_place::at, facts.step, job_event::kind::progress, facts.values.contains(observed_value())});
  // Not in a job that begins at this state: its predecessor may already have scaled the rate here.
  if (recipe_.hook_scales_at == facts.step && start_ < facts.step)
    job.scale_rate(0.5);
  if (recipe_.hook_saves_at == facts.step)
    job.save();
  if (recipe_.hook_stops_at == facts.step)
    job.stop();
}

void watching_hook::on_event(const job_event& event, job_control& job) {
  noted({hook_place::on_event, event.step, event.what});
  if (holds(recipe_, event.what) && !stopped_on_ && event.step >= recipe_.hook_stops_on_fact_from.value_or(INT64_MAX)) {
    stopped_on_ = event.step;
    job.stop();
  }
}

void watching_hook::end(int64_t step) { noted({hook_place::end, step}); }

void watching_hook::on_abort(const error& cause) { noted({hook_place::on_abort, cause.step.value_or(-1)}); }

}  // namespace troupe::test::random_faults
