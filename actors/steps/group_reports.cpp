#include "actors/steps/group_reports.hpp"

#include "words/expect.hpp"
#include "words/planted.hpp"

#include <algorithm>

namespace troupe {

group_reports::group_reports(const reported_group& of) : of_(of), dealt_(of.mode != mode::train) {
  for (const auto& r : of.replicas)
    lanes_.push_back({.from = r.id, .calls = r.calls, .share = r.share});
}

group_reports::lane& group_reports::lane_of(int64_t batch) {
  if (dealt_)
    for (auto& l : lanes_)
      if (l.share.first == batch % l.share.every)
        return l;
  return lanes_.front();
}

bool group_reports::has(node_id replica) const {
  return std::any_of(lanes_.begin(), lanes_.end(), [replica](const lane& l) { return l.from == replica; });
}

void group_reports::add(const step_report& x, int64_t step) {
  const auto l = std::find_if(lanes_.begin(), lanes_.end(),
                              [&x](const lane& other) { return other.from == x.replica; });
  if (l == lanes_.end())
    return;
  const int64_t next = (dealt_ ? l->taken : step) + std::ssize(l->losses);
  if (!x.losses.empty() && x.step != next)
    return;
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
}

void group_reports::add(const stream_end& x) {
  for (auto& l : lanes_)
    if (l.from == x.replica) {
      l.end = x;
      l.end->step = l.share.number_of(x.step);
    }
}

bool group_reports::add(const block& x) {
  const auto l = std::find_if(lanes_.begin(), lanes_.end(), [&x](const lane& other) { return other.calls == x.edge; });
  if (l == lanes_.end())
    return false;
  int64_t bytes = 0;
  for (const auto& t : x.components)
    bytes += t.byte_size();
  l->called_bytes_max = std::max(l->called_bytes_max, bytes);
  if (!left_)
    l->called.push_back(x);
  return true;
}

call_set group_reports::calls_due(int64_t step, int64_t step_of_loop) const {
  const bool any = lanes_.front().calls && !left_ && !(of_.retires_at && *of_.retires_at <= step);
  return any ? troupe::calls_due(of_.calls, step_of_loop) : 0;
}

std::vector<call_entry> group_reports::take_called(int64_t step) {
  std::vector<call_entry> entries;
  const auto take = [&](lane& l) {
    expect(!l.called.empty() && l.share.number_of(l.called.front().step) == step,
           "a step was reported without what host calls get of it");
    entries.push_back(std::move(l.called.front().components));
    l.called.pop_front();
    ++l.called_taken;
  };
  if (dealt_)
    take(lane_of(step));
  else
    std::for_each(lanes_.begin(), lanes_.end(), take);
  if (planted(planted_fault::call_of_wrong_replica))
    std::reverse(entries.begin(), entries.end());
  return entries;
}

std::vector<group_reports::called_entries> group_reports::called() const {
  std::vector<called_entries> all;
  for (const auto& l : lanes_)
    if (l.calls && !left_)
      all.push_back({*l.calls, l.called_taken, l.called_bytes_max});
  return all;
}

void group_reports::leave() {
  left_ = true;
  for (auto& l : lanes_)
    l = {.from = l.from};
}

size_t group_reports::ready() const {
  int64_t ready = INT64_MAX;
  for (const auto& l : lanes_)
    ready = std::min(ready, dealt_ ? l.share.number_of(l.taken + std::ssize(l.losses)) - taken_ : std::ssize(l.losses));
  return static_cast<size_t>(ready);
}

double group_reports::seconds_per_step() const {
  double slowest = 0;
  for (const auto& l : lanes_)
    slowest = std::max(slowest, l.seconds_per_step);
  return slowest;
}

double group_reports::take_loss() {
  of_step_.clear();
  const auto take = [this](lane& l) {
    of_step_.push_back(l.losses.front());
    l.losses.pop_front();
    ++l.taken;
  };
  if (dealt_)
    take(lane_of(taken_));
  else
    std::for_each(lanes_.begin(), lanes_.end(), take);
  ++taken_;
  last_ = tree_mean(of_step_);
  meters_.since_progress.add(*last_);
  meters_.since_log.add(*last_);
  return *last_;
}

bool group_reports::records(int64_t step) const {
  const auto& first = lanes_.front().recorded;
  return !first.empty() && first.front().step == step;
}

bool group_reports::measures(int64_t step) const {
  return std::any_of(lanes_.begin(), lanes_.end(),
                     [step](const lane& l) { return !l.measured.empty() && l.measured.front().step == step; });
}

recorded_sets group_reports::take_recorded(int64_t step) {
  recorded_sets sets;
  for (auto& l : lanes_)
    if (!l.recorded.empty() && l.recorded.front().step <= step) {
      sets.insert(sets.end(), l.recorded.front().sets.begin(), l.recorded.front().sets.end());
      l.recorded.pop_front();
    }
  return sets;
}

expected<metric_results> group_reports::take_metrics(int64_t step) {
  metric_totals totals{of_.measured, of_.metrics};
  for (auto& l : lanes_)
    for (; !l.measured.empty() && l.measured.front().step <= step; l.measured.pop_front())
      if (l.measured.front().step == step)
        totals.add(l.measured.front().sums);
  // No batches: the group has retired, or has no metrics.
  return totals.batches() == 0 ? expected<metric_results>{} : totals.results();
}

std::optional<int64_t> group_reports::watched() const {
  const auto& first = lane_of(next_shown_).watched;
  return first.empty() ? std::nullopt : std::optional{first.front().step};
}

std::vector<tensor> group_reports::take_watched() {
  auto values = std::move(lane_of(next_shown_).watched.front().values);
  if (last_)
    show_mean_loss(of_.outputs, *last_, values);
  return values;
}

std::vector<std::vector<tensor>> group_reports::take_observed(int64_t step) {
  std::vector<std::vector<tensor>> sets;
  for (auto& l : lanes_)
    for (; !l.watched.empty() && l.watched.front().step <= step; l.watched.pop_front())
      if (l.watched.front().step == step)
        std::move(l.watched.front().observed.begin(), l.watched.front().observed.end(), std::back_inserter(sets));
  next_shown_ = step + 1;
  return sets;
}

const stream_end* group_reports::first_end() const {
  const stream_end* first = nullptr;
  for (const auto& l : lanes_)
    if (l.end && (!first || l.end->step < first->step))
      first = &*l.end;
  return first;
}

const stream_end* group_reports::common_end() const {
  if (dealt_)
    return first_end();  // Each has an end of its own, and nothing follows the first one.
  return std::all_of(lanes_.begin(), lanes_.end(), [](const lane& l) { return l.end.has_value(); }) ? first_end()
                                                                                                    : nullptr;
}

}  // namespace troupe
