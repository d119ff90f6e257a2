#include "actors/steps/outfeed.hpp"

#include "messages/counted.hpp"
#include "words/ended_by_error.hpp"
#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

constexpr size_t told_before_max = 16;  // A job recovers at the newest commit, which is seldom many saves back.

void outfeed_state::on_begin(const begin& x) {
  if (x.attempt <= attempt)
    return;
  attempt = x.attempt;
  step = x.step;
  groups.clear();
  for (const auto& g : options.groups)
    groups.emplace_back(g);
  told.clear();
  told_before.erase(told_before.upper_bound(x.step), told_before.end());
  next_shown = 0;
  records = 0;
  rates = {{x.step, x.rate_factor}};
  texts_sent = false;
  room_until = options.records_ahead;
  last_record.reset();
  end_passed = false;
  loops.begin(options.loops ? x.loop : loop_span{step});
  open = {loops.last().begin_of(step), step, step};
  of_open.clear();
  last_passed = self->clock().now();
  for (auto& [edge, lane] : call_lanes)
    lane.granted = 0;
  give_room();
  early.hand_over(attempt, each_of{[this](const step_report& report) { on_report(report); },
                                   [this](const stream_end& end) { on_end(end); }});
}

group_reports* outfeed_state::group_of(node_id replica) {
  const auto g = std::find_if(groups.begin(), groups.end(),
                              [replica](const group_reports& x) { return x.has(replica); });
  return g == groups.end() ? nullptr : &*g;
}

group_reports* outfeed_state::lead() {
  const auto g = std::find_if(groups.begin(), groups.end(), [](const group_reports& x) { return !x.has_left(); });
  return g == groups.end() ? nullptr : &*g;
}

void outfeed_state::on_report(const step_report& x) {
  if (early.keep(attempt, x) || x.attempt != attempt)
    return;
  auto* const group = group_of(x.replica);
  if (!group || group->has_left())
    return;
  group->add(x, step);
  told.add(x.told);
  pass_on();
}

void outfeed_state::on_end(const stream_end& x) {
  if (early.keep(attempt, x) || x.attempt != attempt)
    return;
  auto* const group = group_of(x.replica);
  if (!group || group->has_left())
    return;
  group->add(x);
  pass_end(passing::complete);
}

void outfeed_state::on_record_credit(const record_credit& x) {
  if (x.attempt != attempt || x.until_number <= room_until)
    return;
  room_until = x.until_number;
  pass_on();
}

/// Only the number of the steps that a group has trained depends on it.
void outfeed_state::on_retire(const retire& x) {
  if (x.attempt != attempt)
    return;
  for (auto& g : options.groups)
    if (g.id == x.group)
      g.retires_at = std::min(g.retires_at.value_or(x.step), x.step);
}

void outfeed_state::on_departed(const departed& x) {
  if (x.attempt != attempt)
    return;
  for (const auto& replica : x.replicas)
    if (auto* const group = group_of(replica.id); group && !group->has_left())
      group->leave();
  end_passed = false;  // If the end was that group's, the job continues and its own end is still to come.
  pass_on();
}

void outfeed_state::on_probe(const probe& x) {
  std::vector<std::pair<std::string, int64_t>> counts{{"reported", step}};
  for (size_t g = 0; g < groups.size(); ++g)
    for (size_t r = 0; r < options.groups[g].replicas.size(); ++r)
      counts.emplace_back("by " + options.groups[g].replicas[r].name,
                          step + static_cast<int64_t>(groups[g].reported_by(r)));
  if (!has_room())
    counts.emplace_back("records that the summary writer has no room for, from", records);
  tell_standing(*this, x, std::move(counts));
}

std::vector<told_state> outfeed_state::take_told() {
  std::vector<std::string> names;
  for (size_t g = 0; g < groups.size(); ++g)
    if (!groups[g].has_left())
      names.insert(names.end(), options.groups[g].told_at_saves.begin(), options.groups[g].told_at_saves.end());
  return told.take_complete(step, names);
}

bool outfeed_state::metrics_due() const {
  return std::any_of(groups.begin(), groups.end(), [this](const group_reports& g) { return g.measures(step + 1); });
}

loss_point outfeed_state::point(loss_meter group_reports::meters::*meter) {
  loss_point p{step, 0, 0, {}};
  for (size_t g = groups.size(); g-- > 0;) {
    if (groups[g].has_left())
      continue;
    const auto& losses = groups[g].losses().*meter;
    p.last = losses.last();
    p.mean = losses.mean();
    if (groups.size() > 1)
      p.of_groups[options.groups[g].name] = {p.last, p.mean};
  }
  return p;
}

/// The values of a watched state: first the outputs of each group, then what each group observed. Of the first group
/// that has not left, the outputs are its first replica's; of other groups, only the loss is filled in. The values of a
/// group that has left are empty.
void outfeed_state::take_watched(group_reports& first, std::vector<step_values>& into) {
  while (first.watched() && *first.watched() <= step) {
    step_values all{*first.watched(), {}};
    std::vector<std::vector<tensor>> outputs, observed;
    for (size_t g = 0; g < groups.size(); ++g) {
      auto& own = outputs.emplace_back(options.groups[g].outputs.size());
      if (&groups[g] == &first)
        own = first.take_watched();
      else if (groups[g].last_loss() && !groups[g].has_left())
        show_mean_loss(options.groups[g].outputs, *groups[g].last_loss(), own);
      observed.push_back(join_observed(options.groups[g].observables, groups[g].take_observed(all.step)));
    }
    const bool any = !outputs[static_cast<size_t>(&first - groups.data())].empty();  // No step led to the first state.
    for (auto* const lists : {&outputs, &observed})
      for (auto& list : *lists)
        for (auto& value : list)
          if (any)
            all.values.push_back(std::move(value));
    if (all.step >= next_shown)  // A group that has left since may already have shown it.
      into.push_back(std::move(all));
    next_shown = std::max(next_shown, all.step + 1);
  }
}

std::optional<loop_point> outfeed_state::count_for_loop(const group_reports& lead, double seconds) {
  const auto all = loops.at(step - 1);
  of_open.add(*lead.last_loss());
  open.end = step;
  open.last = of_open.last();
  open.mean = of_open.mean();
  open.first_replica = lead.last_loss_of_first();
  open.seconds += seconds;
  if (!all.begins_at(step))
    return std::nullopt;
  loops.forget(step);
  of_open.clear();
  return std::exchange(open, loop_point{step, step, step});
}

void outfeed_state::pass_reports(passing what) {
  auto* const first = lead();
  if (!first)
    return;
  size_t ready = SIZE_MAX;
  progress p{attempt};
  for (const auto& g : groups) {
    if (g.has_left())
      continue;
    ready = std::min(ready, g.ready());
    p.seconds_per_step = std::max(p.seconds_per_step, g.seconds_per_step());
  }
  const auto elapsed = last_passed ? self->clock().now() - *last_passed : caf::timespan{0};
  const auto reported = ready;
  const double seconds = reported == 0 ? 0
                                       : std::chrono::duration<double>(elapsed).count() / static_cast<double>(reported);
  // Watched states that earlier reports reached: a job that is stopped at such a state shows it as its last one.
  take_watched(*first, p.watched);
  std::optional<error> failed;
  for (size_t i = 0; i < ready; ++i) {
    const bool recorded = first->records(step + 1), measured = metrics_due();
    const auto due = calls_due();
    const bool calls = std::any_of(due.begin(), due.end(), [](call_set one) { return one != 0; });
    if ((recorded || measured || calls) && !has_room() && what == passing::complete
        && !planted(planted_fault::record_without_room)) {
      ready = i;
      break;
    }
    auto called = make_calls(due);
    if (!called) {
      failed = called.error();
      ready = i;
      break;
    }
    for (auto& g : groups)
      if (!g.has_left())
        g.take_loss();
    ++step;
    if (options.loops)
      if (auto ended = count_for_loop(*first, seconds))
        p.loops.push_back(*ended);
    if (const auto* values = told.find(step)) {  // It has come with the report of this step.
      told_before[step] = *values;
      if (told_before.size() > told_before_max)
        told_before.erase(told_before.begin());
    }
    const bool logs = options.log_every > 0 && step % options.log_every == 0;
    std::vector<metric_results> of_groups;
    if (measured)
      of_groups = take_metrics();
    else if (recorded || logs || !called->empty())
      of_groups.resize(groups.size());  // Of other steps nothing is allocated.
    if (recorded || measured || !called->empty())
      send_record(recorded, of_groups, std::move(*called));
    if (logs) {
      p.logged.push_back(point(&group_reports::meters::since_log));
      auto metrics = joined(of_groups);
      p.logged.back().metrics = std::move(metrics.numbers);
      p.logged.back().arrays = std::move(metrics.arrays);
      for (auto& g : groups)
        g.losses().since_log.clear();
    }
    take_watched(*first, p.watched);
  }
  if (last_passed && ready > 0)  // The time of steps that are held back stays theirs.
    *last_passed += elapsed / static_cast<int64_t>(reported) * static_cast<int64_t>(ready);
  p.open = open;
  p.told = take_told();
  if (ready > 0 || !p.watched.empty() || !p.told.empty()) {
    p.step = step;
    p.block_steps = static_cast<int64_t>(ready);
    p.loss = point(&group_reports::meters::since_progress);
    for (auto& g : groups)
      g.losses().since_progress.clear();
    self->send(sink, std::move(p));
  }
  if (failed)
    throw ended_by_error{std::move(*failed)};
  give_room();
}

/// The end of a stream is passed on after all reports. All replicas of a group stop at the same step, and the end of
/// the last one follows its own reports. If a group has failed, other groups may never send an end.
void outfeed_state::pass_end(passing what) {
  const group_reports* whose = nullptr;
  for (const auto& g : groups)
    if (const auto* end = g.first_end(); end && (!whose || end->step < whose->first_end()->step))
      whose = &g;
  if (!whose || end_passed)
    return;
  if (what == passing::complete && (step < whose->first_end()->step || !whose->common_end()))
    return;
  end_passed = true;
  self->send(sink, *whose->first_end());
}

outfeed_actor::behavior_type outfeed(outfeed_actor::stateful_pointer<outfeed_state> self, outfeed_options options,
                                     progress_sink_actor sink) {
  auto& state = self->state;
  state.self = self;
  state.options = std::move(options);
  state.sink = std::move(sink);
  return counted<outfeed_actor>(
      state, [&state](const step_report& x) { state.on_report(x); }, [&state](const stream_end& x) { state.on_end(x); },
      [&state](const record_credit& x) { state.on_record_credit(x); }, [&state](const begin& x) { state.on_begin(x); },
      [&state](const departed& x) { state.on_departed(x); }, [&state](const retire& x) { state.on_retire(x); },
      [&state](const block& x) { state.on_called(x); }, [](const end_of_data&) {},  // The end comes with the reports.
      [&state](const connect_source& x) {
        state.call_lanes[x.edge] = {x.source};
        state.give_room();
      },
      [&state](const connect_records& x) { state.writer = x.writer; },
      [&state](const scale_rate& x) {
        if (x.attempt == state.attempt)
          state.rates[x.step] = x.factor, state.forget_rates();
      },
      [&state](const set_loop& x) {
        if (x.attempt == state.attempt)
          state.loops.add(x.loop);
      },
      [&state](const run& x) {
        if (x.attempt == state.attempt)
          state.last_passed = state.self->clock().now();
      },
      [&state](const probe& x) { state.on_probe(x); },
      [&state](const flush& x) {
        state.flush();
        state.self->send(caf::actor_cast<flush_sink_actor>(state.self->current_sender()), flushed{x.number});
      });
}

}  // namespace troupe
