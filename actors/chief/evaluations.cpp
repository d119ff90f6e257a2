#include "actors/chief/evaluations.hpp"

#include "actors/chief/decisions.hpp"

#include <algorithm>

namespace troupe {

evaluations::evaluations(const std::vector<evaluation_settings>& settings) {
  for (const auto& s : settings)
    all_.push_back({s, evaluation_schedule{s.throttle_secs, s.start_delay_secs, s.least_steps}});
}

void evaluations::begin(checkpoint_id id) {
  if (offered_ && offered_->step > id.step)
    offered_ = id;
  for (auto& e : all_) {
    e.schedule.begin_at(id);
    e.until.reset();
  }
}

void evaluations::evaluate_groups(const std::vector<std::vector<group_id>>& groups) {
  for (size_t i = 0; i < std::min(all_.size(), groups.size()); ++i)
    all_[i].settings.groups = groups[i];
}

std::vector<size_t> evaluations::leave(group_id group, int64_t first) {
  std::vector<size_t> ended;
  for (size_t i = 0; i < all_.size(); ++i) {
    auto& e = all_[i];
    if (std::find(e.settings.groups.begin(), e.settings.groups.end(), group) == e.settings.groups.end())
      continue;
    if (!e.until && !e.lost)
      ended.push_back(i);
    e.until = std::min(first, e.until.value_or(first));
  }
  return ended;
}

bool evaluations::any() const {
  return std::any_of(all_.begin(), all_.end(), [](const evaluation& e) { return e.is_regular(); });
}

std::optional<size_t> evaluations::demanded_for(evaluation_purpose purpose) const {
  for (size_t i = 0; i < all_.size(); ++i)
    if (all_[i].settings.purpose == purpose && !all_[i].lost)
      return i;
  return std::nullopt;
}

bool evaluations::are_gates(bool held) const {
  return std::any_of(all_.begin(), all_.end(), [held](const evaluation& e) { return e.is_gate(held); });
}

std::vector<checkpoint_id> evaluations::offer(checkpoint_id id) {
  std::vector<checkpoint_id> superseded;
  for (auto& e : all_)
    if (const auto old = !e.takes_part(id.step) || e.schedule.has_seen(id) ? std::nullopt : e.schedule.offer(id))
      if (std::find(superseded.begin(), superseded.end(), *old) == superseded.end())
        superseded.push_back(*old);
  if (!was_offered(id))
    offered_ = id;
  std::erase_if(superseded, [this](checkpoint_id old) { return concern(old); });
  return superseded;
}

int64_t evaluations::next_shown(int64_t step) const {
  int64_t next = INT64_MAX;
  for (const auto& e : all_)
    if (const auto wanted = next_multiple(step, e.settings.every_steps); e.takes_part(wanted))
      next = std::min(next, wanted);
  return next;
}

bool evaluations::shows(size_t which, int64_t step) const {
  const auto& e = all_[which];
  return e.takes_part(step) && next_multiple(step - 1, e.settings.every_steps) == step;
}

void evaluations::offer_last(checkpoint_id id) {
  for (auto& e : all_)
    if (e.takes_part(id.step) && e.schedule.last() != id)
      e.schedule.offer(id);
  if (!was_offered(id))
    offered_ = id;
}

bool evaluations::concern(checkpoint_id id) const {
  return std::any_of(all_.begin(), all_.end(), [id](const evaluation& e) { return e.schedule.concern(id); });
}

bool evaluations::hold(checkpoint_id id, bool held) const {
  return std::any_of(all_.begin(), all_.end(), [&](const evaluation& e) {
    return e.schedule.concern(id) && (e.is_gate(held) || e.schedule.checks());
  });
}

std::vector<evaluation_progress> evaluations::under_way() const {
  std::vector<evaluation_progress> all;
  for (const auto& [settings, schedule, lost, until] : all_)
    if (const auto id = schedule.running(); id && (!schedule.shows() || schedule.is_asked()))
      all.push_back({settings.name, id->step, schedule.batches()});
  return all;
}

bool evaluations::idle() const {
  return std::all_of(all_.begin(), all_.end(), [](const evaluation& e) { return e.schedule.idle(); });
}

bool evaluations::have_ended(checkpoint_id id) const {
  return std::all_of(all_.begin(), all_.end(),
                     [id](const evaluation& e) { return !e.takes_part(id.step) || e.schedule.last() == id; });
}

void evaluations::drop_waiting() {
  for (auto& e : all_)
    e.schedule.drop_waiting();
}

std::vector<checkpoint_id> evaluations::lose(size_t which) {
  auto& e = all_[which];
  e.lost = true;
  std::vector<checkpoint_id> ids;
  if (const auto waiting = e.schedule.waiting())
    ids.push_back(*waiting);
  e.schedule.drop_waiting();
  for (const auto busy : {e.schedule.lose(), e.schedule.end_export()})
    if (busy && std::find(ids.begin(), ids.end(), *busy) == ids.end())
      ids.push_back(*busy);
  return ids;
}

}  // namespace troupe
