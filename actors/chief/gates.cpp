#include "actors/chief/gates.hpp"

#include "words/need.hpp"

#include <algorithm>

namespace troupe {

void gates::set_needs(std::vector<need> steps, held_facts holds, bool observes, bool last) {
  needs_ = std::move(steps);
  holds_ = holds;
  observes_ = observes;
  last_ = last;
}

int64_t gates::next_shown(int64_t after) const {
  int64_t next = INT64_MAX;
  for (const auto& n : needs_)
    next = std::min(next, next_need(after, n));
  return next;
}

void gates::marked(int64_t step) {
  if (std::any_of(needs_.begin(), needs_.end(), [step](const need& n) { return n.gate && next_need(step - 1, n) == step; }))
    hooks_.insert(step);
}

void gates::answered(int64_t step) {
  asked_.erase(step);
  hooks_.erase(step);
}

std::optional<int64_t> gates::awaited() const {
  std::optional<int64_t> first;
  if (!asked_.empty())
    first = *asked_.begin();
  for (const auto& [number, step] : facts_)
    first = std::min(first.value_or(step), step);
  return first;
}

void gates::evaluations_lost(std::optional<int64_t> committed) {
  if (!holds_.saved)
    commits_.clear();
  else if (committed)
    commits_.erase(commits_.begin(), commits_.upper_bound(*committed));
}

int64_t gates::limit(int64_t until) const {
  int64_t limit = INT64_MAX;
  for (const auto* closed : {&commits_, &shown_, &hooks_})
    if (!closed->empty())
      limit = std::min(limit, *closed->begin());
  for (const auto& [number, step] : facts_)
    limit = std::min(limit, step);
  for (const auto& n : needs_)
    if (n.gate)
      limit = std::min(limit, next_need(until, n));
  return limit;
}

void gates::cancel_above(int64_t step) {
  for (auto* closed : {&commits_, &shown_, &hooks_})
    closed->erase(closed->upper_bound(step), closed->end());
}

void gates::begin_attempt() {
  for (auto* of_attempt : {&commits_, &shown_, &hooks_, &asked_})
    of_attempt->clear();
}

void gates::open_all() {
  begin_attempt();
  facts_.clear();
}

}  // namespace troupe
