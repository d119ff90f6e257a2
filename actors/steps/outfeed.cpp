#include "actors/steps/outfeed.hpp"

#include <caf/stateful_actor.hpp>
#include <caf/typed_event_based_actor.hpp>

#include <algorithm>

namespace troupe {

void outfeed_state::on_begin(const begin& x) {
  if (x.attempt <= attempt)
    return;
  attempt = x.attempt;
  step = x.step;
  lanes.assign(static_cast<size_t>(options.replicas), {});
  since_progress = since_log = {};
  records = 0;
  room_until = options.records_ahead;
  last_record.reset();
  end_passed = false;
}

void outfeed_state::on_report(const step_report& x) {
  if (x.attempt != attempt)
    return;
  auto& l = lanes[static_cast<size_t>(x.replica)];
  if (!x.losses.empty() && x.step != step + static_cast<int64_t>(l.losses.size()))
    return;  // A repeated one.
  l.losses.insert(l.losses.end(), x.losses.begin(), x.losses.end());
  for (const auto& w : x.watched)
    if (w.step >= l.next_watched) {
      l.watched.push_back(w);
      l.next_watched = w.step + 1;
    }
  l.recorded.insert(l.recorded.end(), x.recorded.begin(), x.recorded.end());
  if (!x.losses.empty())
    l.seconds_per_step = x.seconds / static_cast<double>(x.losses.size());
  pass_on();
}

void outfeed_state::on_end(const stream_end& x) {
  if (x.attempt != attempt)
    return;
  lanes[static_cast<size_t>(x.replica)].end = x;
  pass_end(false);
}

void outfeed_state::on_room(const room& x) {
  if (x.attempt != attempt || x.until_number <= room_until)
    return;
  room_until = x.until_number;
  pass_on();
  pass_end(false);
}

bool outfeed_state::record_due() const {
  return !lanes.front().recorded.empty() && lanes.front().recorded.front().step == step + 1;
}

void outfeed_state::send_record(double loss) {
  recorded_sets sets;
  for (auto& l : lanes)
    if (!l.recorded.empty() && l.recorded.front().step <= step) {
      sets.insert(sets.end(), l.recorded.front().sets.begin(), l.recorded.front().sets.end());
      l.recorded.pop_front();
    }
  if (!writer)
    return;
  record r{attempt, records, step, {}};
  const auto by_default = [&](const std::string& tag, double value) {
    // What the model records under the same tag takes its place: two values of one tag and step are no curve.
    const auto& own = options.summaries.all;
    if (std::none_of(own.begin(), own.end(), [&](const summary_recipe& o) { return o.tag == tag; }))
      r.values.push_back({.tag = tag, .scalar = value});
  };
  // Of that step alone, as the Estimator keeps it: a mean since the last record would change with where a job was resumed.
  by_default("loss", loss);
  if (options.summaries.by)
    by_default("learning_rate", learning_rate(*options.summaries.by, step));
  const auto now = self->clock().now();
  if (last_record && now > last_record->second)
    by_default("global_step/sec", static_cast<double>(step - last_record->first)
                                    / std::chrono::duration<double>(now - last_record->second).count());
  last_record.emplace(step, now);
  for (auto& value : summarise(options.summaries.all, sets, records == 0))
    r.values.push_back(std::move(value));
  ++records;
  self->send(writer, std::move(r));
}

void outfeed_state::pass_on(bool whatever_there_is) {
  size_t ready = lanes.front().losses.size();
  bool watched = false;
  progress p{attempt};
  for (const auto& l : lanes) {
    ready = std::min(ready, l.losses.size());
    p.seconds_per_step = std::max(p.seconds_per_step, l.seconds_per_step);
  }
  std::vector<double> of_step(lanes.size());
  auto& first = lanes.front();
  size_t shown = 0;
  for (size_t i = 0; i < ready; ++i) {
    const bool due = record_due();
    if (due && records >= room_until && writer && !whatever_there_is) {
      ready = i;
      break;
    }
    for (size_t r = 0; r < lanes.size(); ++r) {
      of_step[r] = lanes[r].losses.front();
      lanes[r].losses.pop_front();
    }
    const double loss = tree_mean(of_step);
    since_progress.add(loss);
    since_log.add(loss);
    ++step;
    while (shown < first.watched.size() && first.watched[shown].step < step)
      ++shown;
    if (shown < first.watched.size() && first.watched[shown].step == step)
      show_mean_loss(options.outputs, loss, first.watched[shown].values);
    if (due)
      send_record(loss);
    if (options.log_every > 0 && step % options.log_every == 0) {
      p.logged.push_back({step, since_log.last(), since_log.mean()});
      since_log.clear();
    }
  }
  // Replica 0 speaks for the values of a step, now that its loss is that of all.
  for (; !first.watched.empty() && first.watched.front().step <= step; first.watched.pop_front()) {
    p.watched.push_back(std::move(first.watched.front()));
    watched = true;
  }
  for (size_t r = 1; r < lanes.size(); ++r)
    while (!lanes[r].watched.empty() && lanes[r].watched.front().step <= step)
      lanes[r].watched.pop_front();
  if (ready == 0 && !watched)
    return;
  p.step = step;
  p.block_steps = static_cast<int64_t>(ready);
  p.loss = {step, since_progress.last(), since_progress.mean()};
  since_progress.clear();
  self->send(sink, std::move(p));
}

void outfeed_state::pass_end(bool whatever_there_is) {
  const stream_end* end = nullptr;
  for (const auto& l : lanes) {
    if (!l.losses.empty() && !whatever_there_is)
      return;  // The end of a stream overtakes no report of it.
    if (!l.end && !whatever_there_is)
      return;  // All replicas stop at the same step; the last one to say so speaks for its own reports too.
    if (l.end && !end)
      end = &*l.end;
  }
  if (end && !std::exchange(end_passed, true))
    self->send(sink, *end);
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
    [&state](const room& x) { state.on_room(x); },
    [&state](const begin& x) { state.on_begin(x); },
    [&state](const probe& x) {
      standing here{x.number, state.options.name, {{"reported", state.step}}};
      for (size_t r = 0; r < state.lanes.size(); ++r)
        here.counts.emplace_back("by replica/" + std::to_string(r), state.step + static_cast<int64_t>(state.lanes[r].losses.size()));
      if (state.writer && state.records >= state.room_until)
        here.counts.emplace_back("records that the summary writer has no room for, from", state.records);
      state.self->send(caf::actor_cast<standing_sink_actor>(state.self->current_sender()), std::move(here));
    },
    [&state](const flush& x) {
      if (!state.lanes.empty()) {
        state.pass_on(true);
        state.pass_end(true);
      }
      state.self->send(caf::actor_cast<chief_actor>(state.self->current_sender()), flushed{x.number});
    },
  };
}

}  // namespace troupe
