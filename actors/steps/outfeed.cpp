#include "actors/steps/outfeed.hpp"

#include "compute/engine/metric_summaries.hpp"
#include "words/planted.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>
#include <stdexcept>

namespace troupe {

void outfeed_state::on_begin(const begin& x) {
  if (x.attempt <= attempt)
    return;
  attempt = x.attempt;
  step = x.step;
  lanes.clear();
  for (size_t g = 0; g < options.groups.size(); ++g)
    for (const auto& r : options.groups[g].replicas)
      lanes.push_back({.from = r.id, .group = g});
  meters.assign(options.groups.size(), {});
  last_losses.clear();
  records = 0;
  rates = {{x.step, x.rate_factor}};
  texts_sent = false;
  room_until = options.records_ahead;
  last_record.reset();
  end_passed = false;
  early.hand_over(attempt, each_of{[this](const step_report& report) { on_report(report); }, [this](const stream_end& end) { on_end(end); }});
}

outfeed_state::lane* outfeed_state::lane_of(node_id replica) {
  const auto l = std::find_if(lanes.begin(), lanes.end(), [replica](const lane& x) { return x.from == replica; });
  return l == lanes.end() ? nullptr : &*l;
}

void outfeed_state::on_report(const step_report& x) {
  if (early.keep(attempt, x))
    return;
  auto* const l = lane_of(x.replica);
  if (x.attempt != attempt || !l)
    return;
  if (!x.losses.empty() && x.step != step + static_cast<int64_t>(l->losses.size()))
    return;  // A repeated message.
  l->losses.insert(l->losses.end(), x.losses.begin(), x.losses.end());
  for (const auto& w : x.watched)
    if (w.step >= l->next_watched) {
      l->watched.push_back(w);
      l->next_watched = w.step + 1;
    }
  l->recorded.insert(l->recorded.end(), x.recorded.begin(), x.recorded.end());
  l->measured.insert(l->measured.end(), x.measured.begin(), x.measured.end());
  if (!x.losses.empty())
    l->seconds_per_step = x.seconds / static_cast<double>(x.losses.size());
  pass_on();
  pass_end(false);  // Another group may have failed at the step that this one has reached now.
}

void outfeed_state::on_end(const stream_end& x) {
  if (early.keep(attempt, x))
    return;
  auto* const l = lane_of(x.replica);
  if (x.attempt != attempt || !l)
    return;
  l->end = x;
  pass_end(false);
}

void outfeed_state::on_record_credit(const record_credit& x) {
  if (x.attempt != attempt || x.until_number <= room_until)
    return;
  room_until = x.until_number;
  pass_on();
  pass_end(false);
}

void outfeed_state::on_departed(const departed& x) {
  if (x.attempt != attempt)
    return;
  for (const auto& replica : x.replicas)
    if (auto* const l = lane_of(replica.id)) {
      l->left = true;
      l->end.reset();
      l->watched.clear();
      l->recorded.clear();
      l->measured.clear();
    }
  end_passed = false;  // If it was that group's, the job goes on, and its end is yet to come.
  pass_on();
  pass_end(false);
}

bool outfeed_state::has_left(size_t group) const {
  return std::any_of(lanes.begin(), lanes.end(), [group](const lane& l) { return l.group == group && l.left; });
}

bool outfeed_state::record_due() const {
  return !lanes.front().recorded.empty() && lanes.front().recorded.front().step == step + 1;
}

bool outfeed_state::metrics_due() const {
  return std::any_of(lanes.begin(), lanes.end(), [this](const lane& l) { return !l.measured.empty() && l.measured.front().step == step + 1; });
}

metric_results outfeed_state::take_metrics() {
  metric_results all;
  for (size_t g = 0; g < options.groups.size(); ++g) {
    const auto& group = options.groups[g];
    metric_totals totals{group.measured, group.metrics};
    for (auto& l : lanes)
      for (; l.group == g && !l.measured.empty() && l.measured.front().step <= step; l.measured.pop_front())
        if (l.measured.front().step == step)
          totals.add(l.measured.front().sums);
    if (totals.batches() == 0)
      continue;  // It has left or retired, or has no metrics.
    auto results = totals.results();
    if (!results)
      throw std::runtime_error{to_string(results.error())};
    const std::string prefix = group.name.empty() ? "" : group.name + "/";
    for (const auto& [name, value] : results->numbers)
      all.numbers[prefix + name] = value;
    for (const auto& [name, array] : results->arrays)
      all.arrays[prefix + name] = array;
  }
  return all;
}

double outfeed_state::rate_factor() {
  while (rates.size() > 1 && std::next(rates.begin())->first < step)
    rates.erase(rates.begin());
  return rates.empty() ? 1 : rates.begin()->second;
}

void outfeed_state::record_group(size_t group, double loss, record& into) {
  recorded_sets sets;
  for (auto& l : lanes)
    if (l.group == group && !l.recorded.empty() && l.recorded.front().step <= step) {
      sets.insert(sets.end(), l.recorded.front().sets.begin(), l.recorded.front().sets.end());
      l.recorded.pop_front();
    }
  if (!writer)
    return;
  const auto& name = options.groups[group].name;
  const auto& summaries = options.groups[group].summaries;
  const std::string prefix = name.empty() ? "" : name + "/";
  const auto by_default = [&](const std::string& tag, double value) {
    // A summary of the model under the same tag replaces it: a curve has one value for each step.
    const auto& own = summaries.all;
    if (std::none_of(own.begin(), own.end(), [&](const summary_recipe& o) { return o.tag == tag; }))
      into.values.push_back({.tag = prefix + tag, .scalar = value});
  };
  // The loss of that step only, as in the Estimator: a mean since the last record would depend on where a job was
  // resumed.
  by_default("loss", loss);
  if (summaries.by)
    by_default("learning_rate", learning_rate(*summaries.by, step) * rate_factor());
  const auto now = self->clock().now();
  if (group == 0 && options.log_every > 0 && last_record && now > last_record->second)
    by_default("global_step/sec", static_cast<double>(step - last_record->first)
                                    / std::chrono::duration<double>(now - last_record->second).count());
  if (group == 0)
    last_record.emplace(step, now);
  for (auto& value : summarise(summaries.all, sets, !texts_sent)) {
    value.tag = prefix + value.tag;
    into.values.push_back(std::move(value));
  }
}

void outfeed_state::send_record(const std::vector<double>& losses, bool recorded, const metric_results& metrics) {
  record r{attempt, records, step, {}};
  for (size_t g = 0; recorded && g < losses.size(); ++g)
    if (!has_left(g))
      record_group(g, losses[g], r);
  texts_sent = texts_sent || recorded;
  if (!writer)
    return;
  for (auto& value : summaries_of(metrics.numbers, metrics.arrays))
    if (std::none_of(r.values.begin(), r.values.end(), [&](const summary_value& own) { return own.tag == value.tag; }))
      r.values.push_back(std::move(value));
  ++records;
  self->send(writer, std::move(r));
}

std::vector<double> outfeed_state::take_losses() {
  std::vector<double> all, of_step;
  for (size_t l = 0; l < lanes.size(); ++l) {
    if (!lanes[l].left) {
      of_step.push_back(lanes[l].losses.front());
      lanes[l].losses.pop_front();
    }
    if (l + 1 < lanes.size() && lanes[l + 1].group == lanes[l].group)
      continue;
    all.push_back(of_step.empty() ? 0 : tree_mean(of_step));
    of_step.clear();
  }
  for (size_t g = 0; g < all.size(); ++g) {
    if (has_left(g))
      continue;
    meters[g].since_progress.add(all[g]);
    meters[g].since_log.add(all[g]);
  }
  return all;
}

loss_point outfeed_state::point(loss_meter loss_meters::*meter) const {
  loss_point p{step, (meters.front().*meter).last(), (meters.front().*meter).mean(), {}};
  for (size_t g = 1; g < meters.size(); ++g)
    if (!has_left(g))
      p.of_groups[options.groups[g].name] = (meters[g].*meter).mean();
  return p;
}

/// The loss of the first group is that of all its replicas; those of the other groups follow. A value of a group that has left is empty.
void outfeed_state::show_losses(const std::vector<double>& losses, std::vector<tensor>& values) const {
  show_mean_loss(options.groups.front().outputs, losses.front(), values);
  for (size_t g = 1; g < losses.size() && !values.empty(); ++g) {
    std::vector<tensor> of_group(options.groups[g].outputs.size());
    if (!has_left(g))
      show_mean_loss(options.groups[g].outputs, losses[g], of_group);
    std::move(of_group.begin(), of_group.end(), std::back_inserter(values));
  }
}

/// The outputs are the first replica's, with the losses of all groups. Observed values are joined over the
/// replicas of each group, group after group.
step_values outfeed_state::take_watched() {
  step_values all = std::move(lanes.front().watched.front());
  auto sets = std::exchange(all.observed, {});
  lanes.front().watched.pop_front();
  for (size_t l = 1; l <= lanes.size(); ++l) {
    if (l == lanes.size() || lanes[l].group != lanes[l - 1].group) {
      if (!all.values.empty())  // Nothing led to the first state.
        for (auto& value : join_observed(options.groups[lanes[l - 1].group].observables, sets))
          all.values.push_back(std::move(value));
      sets.clear();
    }
    if (l == lanes.size())
      break;
    auto& watched = lanes[l].watched;
    for (; !watched.empty() && watched.front().step <= all.step; watched.pop_front())
      if (watched.front().step == all.step)
        std::move(watched.front().observed.begin(), watched.front().observed.end(), std::back_inserter(sets));
  }
  return all;
}

void outfeed_state::pass_on(bool whatever_there_is) {
  size_t ready = lanes.front().losses.size();
  bool watched = false;
  progress p{attempt};
  for (const auto& l : lanes) {
    if (l.left)
      continue;
    ready = std::min(ready, l.losses.size());
    p.seconds_per_step = std::max(p.seconds_per_step, l.seconds_per_step);
  }
  auto& first = lanes.front();
  size_t shown = 0;
  int64_t shown_until = -1;
  for (size_t i = 0; i < ready; ++i) {
    const bool recorded = record_due(), measured = metrics_due();
    if ((recorded || measured) && records >= room_until && writer && !whatever_there_is && !planted(planted_fault::record_without_room)) {
      ready = i;
      break;
    }
    const auto losses = take_losses();
    ++step;
    while (shown < first.watched.size() && first.watched[shown].step < step)
      ++shown;
    if (shown < first.watched.size() && first.watched[shown].step == step) {
      show_losses(losses, first.watched[shown].values);
      shown_until = step;
    }
    last_losses = losses;
    auto metrics = measured ? take_metrics() : metric_results{};
    if (recorded || measured)
      send_record(losses, recorded, metrics);
    if (options.log_every > 0 && step % options.log_every == 0) {
      p.logged.push_back(point(&loss_meters::since_log));
      p.logged.back().metrics = std::move(metrics.numbers);
      p.logged.back().arrays = std::move(metrics.arrays);
      for (auto& m : meters)
        m.since_log.clear();
    }
  }
  for (; !first.watched.empty() && first.watched.front().step <= step; watched = true) {
    // A state that was reached by a report before: a job that is stopped there shows it as its last one.
    if (first.watched.front().step == step && shown_until != step && !last_losses.empty())
      show_losses(last_losses, first.watched.front().values);
    p.watched.push_back(take_watched());
  }
  for (size_t r = 1; r < lanes.size(); ++r)
    while (!lanes[r].watched.empty() && lanes[r].watched.front().step <= step)
      lanes[r].watched.pop_front();
  if (ready == 0 && !watched)
    return;
  p.step = step;
  p.block_steps = static_cast<int64_t>(ready);
  p.loss = point(&loss_meters::since_progress);
  for (auto& m : meters)
    m.since_progress.clear();
  self->send(sink, std::move(p));
}

/// The end of a stream is passed on after all reports. All replicas of a group stop at the same step, and the end of
/// the last one follows its own reports. If a group has failed, other groups may never send an end.
void outfeed_state::pass_end(bool whatever_there_is) {
  const lane* ended = nullptr;
  for (const auto& l : lanes)
    if (l.end && (!ended || l.end->step < ended->end->step))
      ended = &l;
  if (!ended || end_passed)
    return;
  if (!whatever_there_is
      && (step < ended->end->step || std::any_of(lanes.begin(), lanes.end(), [&](const lane& l) { return l.group == ended->group && !l.end; })))
    return;
  end_passed = true;
  self->send(sink, *ended->end);
}

outfeed_actor::behavior_type outfeed(outfeed_actor::stateful_pointer<outfeed_state> self, outfeed_options options,
                                     progress_sink_actor sink, summary_writer_actor writer) {
  auto& state = self->state;
  state.self = self;
  state.options = std::move(options);
  state.sink = std::move(sink);
  state.writer = std::move(writer);
  return {
    [&state](const step_report& x) { state.on_report(x); },
    [&state](const stream_end& x) { state.on_end(x); },
    [&state](const record_credit& x) { state.on_record_credit(x); },
    [&state](const begin& x) { state.on_begin(x); },
    [&state](const departed& x) { state.on_departed(x); },
    [&state](const scale_rate& x) {
      if (x.attempt == state.attempt)
        state.rates[x.step] = x.factor;
    },
    [&state](const probe& x) {
      standing here{x.number, state.options.name, {{"reported", state.step}}};
      auto lane = state.lanes.begin();
      for (const auto& g : state.options.groups)
        for (size_t r = 0; r < g.replicas.size() && lane != state.lanes.end(); ++r, ++lane)
          here.counts.emplace_back("by " + g.replicas[r].name, state.step + static_cast<int64_t>(lane->losses.size()));
      if (state.writer && state.records >= state.room_until)
        here.counts.emplace_back("records that the summary writer has no room for, from", state.records);
      state.self->send(caf::actor_cast<standing_sink_actor>(state.self->current_sender()), std::move(here));
    },
    [&state](const flush& x) {
      if (!state.lanes.empty()) {
        state.pass_on(true);
        state.pass_end(true);
      }
      state.self->send(caf::actor_cast<flush_sink_actor>(state.self->current_sender()), flushed{x.number});
    },
  };
}

}  // namespace troupe
