#include "actors/chief/horizon.hpp"

#include "actors/chief/decisions.hpp"
#include "words/planted.hpp"

#include <algorithm>

namespace troupe {

void horizon::begin(int64_t step, std::optional<int64_t> end) {
  began_at_ = reached_ = until_ = step;
  end_ = end;
  final_ = end.has_value();
}

bool horizon::reach(nanoseconds now, int64_t step, int64_t block_steps) {
  if (step <= reached_)
    return false;
  pace_.goes_on(now, step - reached_);
  reached_ = step;
  block_steps_ = block_steps;
  return true;
}

void horizon::reach_replica(node_id replica, int64_t step, int64_t replicas) {
  auto& reached = replicas_[replica];
  reached = std::max(reached, step);
  if (std::ssize(replicas_) >= replicas)
    reach(std::min_element(replicas_.begin(), replicas_.end(), [](const auto& a, const auto& b) {
            return a.second < b.second;
          })->second);
}

void horizon::cut_at(int64_t step, job_end how) {
  end_at(step, how);
  until_ = step;  // Receivers keep a greater horizon, but no node gets beyond this one.
  reach(step);
}

bool horizon::granted(nanoseconds now, int64_t until) {
  const bool stood_still = idle();
  record_due_ = record_due_ && until <= until_;
  until_ = std::max(until_, until);
  if (stood_still)
    pace_.begins(now);
  return stood_still;
}

int64_t horizon::next_save(int64_t step) const {
  return options_.checkpoints ? next_multiple(step, options_.save_steps) : INT64_MAX;
}

/// Whether `step` needs a save or a record beyond the limit.
bool horizon::far_ahead(int64_t step, size_t saves) const {
  if (next_save(step - 1) == step && saves >= saves_max && !planted(planted_fault::saves_unbounded))
    return true;
  const auto every = options_.summary_steps;
  return every && step % *every == 0 && step / *every - reached_ / *every > records_max;
}

mark_kinds horizon::marks_at(int64_t step, const gates& closed) const {
  mark_kinds kinds = 0;
  if (options_.checkpoints && (end_ == step || next_save(step - 1) == step))
    kinds |= mark_snapshot;
  if (end_ == step)
    kinds |= mark_end;
  if (options_.summary_steps && step % *options_.summary_steps == 0)
    kinds |= mark_summary;
  if (closed.shows(step) || (closed.shows_last() && end_ == step))
    kinds |= closed.observes() ? mark_watch | mark_observe : mark_watch;
  return kinds;
}

grant horizon::next(const gates& closed, const limits& there) const {
  int64_t target = std::min({reached_ + horizon_ahead(block_steps_, pace_.cautious_seconds_per_step()),
                             end_.value_or(INT64_MAX), there.limit});
  grant g;
  size_t saves = there.saves_unreported;
  int64_t shown = there.shown;
  const int64_t recorded = record_due_ ? until_ + 1 : INT64_MAX;
  for (int64_t step = until_; step < target;) {
    step = std::min({target, next_save(step), step < there.evaluated ? there.evaluated : INT64_MAX,
                     options_.summary_steps ? next_multiple(step, options_.summary_steps) : INT64_MAX,
                     closed.next_shown(step), step < recorded ? recorded : INT64_MAX,
                     step < there.fetched ? there.fetched : INT64_MAX});
    mark_kinds kinds = marks_at(step, closed);
    if (step == there.evaluated && (kinds & mark_snapshot) == 0)
      kinds |= mark_show;
    if (far_ahead(step, saves) || ((kinds & mark_watch) != 0 && shown-- == 0)) {
      target = step - 1;  // The state before has no such mark.
      break;
    }
    if (step == recorded)
      kinds |= mark_summary;
    if (step == there.fetched)
      kinds |= there.fetches;
    if (kinds != 0)
      g.marks.push_back({step, kinds});
    saves += (kinds & mark_snapshot) != 0 ? 1 : 0;
  }
  g.until = target;
  return g;
}

}  // namespace troupe
