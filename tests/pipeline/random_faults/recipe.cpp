#include "pipeline/random_faults/recipe.hpp"

namespace troupe::test::random_faults {

std::string_view to_string(trouble_kind k) noexcept {
  switch (k) {
    case trouble_kind::kill: return "kill";
    case trouble_kind::stop: return "stop";
    case trouble_kind::signal: return "stop by signal";
    case trouble_kind::save: return "save";
    case trouble_kind::abort: return "abort";
    case trouble_kind::power_loss: return "power loss";
    case trouble_kind::disk_fault: return "disk fault";
    case trouble_kind::disk_full: return "full disk";
    case trouble_kind::disk_death: return "dead disk";
    case trouble_kind::input_fault: return "input";
    case trouble_kind::hook_fault: return "hook throws";
    case trouble_kind::busy: return "busy";
    case trouble_kind::suspended: return "suspended";
    case trouble_kind::cut: return "cut";
    case trouble_kind::slow_disk: return "slow disk";
    case trouble_kind::host_death: return "death of a host";
    case trouble_kind::late_block: return "late block";
  }
  return "unknown";
}

std::string_view to_string(input_place p) noexcept {
  switch (p) {
    case input_place::iterate: return "iterate";
    case input_place::restore: return "restore";
    case input_place::save: return "save";
    case input_place::read: return "read";
    case input_place::nan: return "read that yields a NaN";
    case input_place::label: return "read that yields a label out of range";
    case input_place::eval_iterate: return "iterate of the evaluation's data";
    case input_place::eval_read: return "read of the evaluation's data";
  }
  return "unknown";
}

std::string_view to_string(hook_place p) noexcept {
  switch (p) {
    case hook_place::begin: return "begin";
    case hook_place::at: return "at";
    case hook_place::on_event: return "on_event";
    case hook_place::end: return "end";
    case hook_place::on_abort: return "on_abort";
  }
  return "unknown";
}

namespace {

std::string to_text(const moment& m) {
  const auto turns = std::to_string(m.turns) + " turns after ";
  switch (m.after) {
    case moment::beginning: return turns + "the beginning";
    case moment::progress: return turns + "progress to step " + std::to_string(m.step);
    case moment::trouble_before: return turns + "the trouble before";
  }
  return turns;
}

std::string ms(std::chrono::milliseconds x) { return std::to_string(x.count()) + " ms"; }

std::string to_text(const duration_range& r) {
  const auto us = [](std::chrono::nanoseconds x) {
    return std::to_string(std::chrono::duration_cast<std::chrono::microseconds>(x).count());
  };
  return us(r.least) + ".." + us(r.most) + " us";
}

std::string to_text(const world_conditions& c) {
  std::string text;
  if (c.order != turn_order::uniform)
    text += ", " + std::string{to_string(c.order)} + (c.order == turn_order::starving ? " " + c.starved : "");
  for (const auto& [node, cost] : c.cost)
    text += ", " + node + " takes " + to_text(cost);
  for (const auto& [node, place] : c.place)
    text += ", " + node + " is in " + place;
  if (!c.place.empty())
    text += ", links take " + to_text(c.link);
  return text;
}

}  // namespace

std::string to_text(const trouble& t) {
  std::string text{to_string(t.what)};
  const auto nth = ", call " + std::to_string(t.nth) + " of ";
  switch (t.what) {
    case trouble_kind::kill:
    case trouble_kind::late_block: text += " " + t.node; break;
    case trouble_kind::disk_fault:
      text += nth + std::string{to_string(t.operation)}
              + (t.path_contains.empty() ? "" : " with a path that has " + t.path_contains);
      break;
    case trouble_kind::input_fault:
      text += nth + std::string{to_string(t.input)} + " on host " + std::to_string(t.host)
              + (t.throws ? ", as an exception" : "") + (t.unavailable ? ", as unavailable" : "")
              + (t.for_ever ? ", and every later one" : "")
              + (t.lasts.count() > 0 ? ", and every call for " + ms(t.lasts) : "");
      break;
    case trouble_kind::hook_fault: text += nth + std::string{to_string(t.hook)}; break;
    case trouble_kind::disk_death:
    case trouble_kind::power_loss: text += t.tears ? ", what was not synced is torn" : ""; break;
    case trouble_kind::busy: text += " " + t.node + " for " + ms(t.lasts); break;
    case trouble_kind::suspended: text += " for " + ms(t.lasts); break;
    case trouble_kind::cut: text += " " + t.place + " for " + ms(t.lasts); break;
    case trouble_kind::slow_disk: text += " for " + ms(t.lasts) + ", " + ms(t.each) + " a call"; break;
    case trouble_kind::host_death: text += " " + t.place; break;
    default: break;
  }
  return text + ", " + to_text(t.when);
}

bool group_recipe::leaves(size_t group) const {
  return breaks[group] || (group == 0 && mixture_falls && (breaks[1] || breaks[2]));
}

std::string to_text(const recipe& r) {
  const auto every = [](const std::string& what, int64_t n) {
    return n > 0 ? ", " + what + " every " + std::to_string(n) : std::string{};
  };
  std::string text = "seed " + std::to_string(r.seed) + ": " + std::to_string(r.hosts) + " hosts, "
                     + std::to_string(r.replicas) + " replicas"
                     + (r.input_mode == input_mode::per_host ? "" : ", " + std::string{to_string(r.input_mode)})
                     + (r.input_function ? ", an input function" : "")
                     + (r.shards ? ", " + std::to_string(*r.shards) + " shards" : "")
                     + (r.reducers ? ", by reducers, " : ", ") + std::to_string(r.max_steps) + " steps"
                     + (r.batches ? " of " + std::to_string(*r.batches) + " batches" : "")
                     + (r.keeps ? "" : ", keeps nothing");
  if (r.loop != 100)
    text += r.loop > 0 ? ", loops of " + std::to_string(r.loop) : ", loops of a second";
  text += r.carries ? ", carries" : "";
  text += every("host calls", r.calls_every);
  if (r.groups) {
    const auto at = [&](const char* name, size_t g) {
      std::string what;
      if (r.groups->retires[g])
        what += std::string{", "} + name + " retires at " + std::to_string(*r.groups->retires[g]);
      if (r.groups->breaks[g])
        what += std::string{", "} + name + " breaks at " + std::to_string(*r.groups->breaks[g])
                + (r.groups->breaks_alone ? " on one replica" : "");
      return what;
    };
    text += ", a mixture of two groups" + std::string{r.groups->mixture_falls ? " that falls with them" : ""}
            + at("it", 0) + at("a", 1) + at("b", 2) + (r.groups->deaths_too ? ", which leave for a death as well" : "");
  }
  if (r.recovers > 0)
    text += ", recovers " + std::to_string(r.recovers) + " times";
  text += every("saves", r.save_steps.value_or(0));
  if (r.save_secs)
    text += ", saves every " + std::to_string(*r.save_secs) + " s";
  if (r.keeps)
    text += ", keeps " + std::to_string(r.keep_max);
  text += every("summaries", r.summary_steps) + every("logs", r.log_steps);
  if (r.evaluates) {
    text += r.when == evaluation_mode::waits ? ", evaluates waiting" : ", evaluates beside";
    if (r.eval_replicas > 1)
      text += " by " + std::to_string(r.eval_replicas) + " replicas on " + std::to_string(r.eval_hosts) + " hosts";
    if (r.eval_steps)
      text += " " + std::to_string(*r.eval_steps) + " batches";
    if (r.throttle_secs > 0)
      text += ", throttled";
    if (r.eval_every > 0)
      text += ", and every " + std::to_string(r.eval_every) + " steps";
    if (r.exports_kept > 0)
      text += ", exports and keeps " + std::to_string(r.exports_kept);
  }
  if (r.hooks)
    text += ", a hook" + every("gates", r.gate_every) + every("watches", r.watch_every);
  if (r.hook_saves_at)
    text += ", it saves at " + std::to_string(*r.hook_saves_at);
  if (r.hook_stops_at)
    text += ", it stops at " + std::to_string(*r.hook_stops_at);
  if (r.hook_holds.saved || r.hook_holds.evaluated)
    text += std::string{", it holds"} + (r.hook_holds.saved ? " saves" : "")
            + (r.hook_holds.evaluated ? " evaluations" : "");
  if (r.hook_stops_on_fact_from)
    text += ", it stops on such a fact from step " + std::to_string(*r.hook_stops_on_fact_from);
  text += every("it traces", r.hook_traces_every);
  if (r.hook_observes)
    text += ", it observes";
  if (r.hook_scales_at)
    text += ", it halves the rate at " + std::to_string(*r.hook_scales_at);
  if (r.listens)
    text += ", a listener"
            + (r.listener_stops_from ? " that stops from " + std::to_string(*r.listener_stops_from) : std::string{});
  if (!r.slow_node.empty())
    text += ", " + r.slow_node + " is slow";
  if (r.read_ms > 0)
    text += ", a read takes " + std::to_string(r.read_ms) + " ms";
  if (r.hook_ms > 0)
    text += ", a call of the hook takes " + std::to_string(r.hook_ms) + " ms";
  text += to_text(r.conditions);
  for (const auto& run : r.disturbed) {
    text += "\n  run with schedule " + std::to_string(run.schedule)
            + (run.wall_clock_s != 0 ? ", the wall clock ahead by " + std::to_string(run.wall_clock_s) + " s" : "")
            + (run.troubles.empty() ? ", undisturbed" : "");
    for (const auto& t : run.troubles)
      text += "\n    " + to_text(t);
  }
  return text;
}

}  // namespace troupe::test::random_faults
