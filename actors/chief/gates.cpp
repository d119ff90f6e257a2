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
  if (std::any_of(needs_.begin(), needs_.end(),
                  [step](const need& n) { return n.gate && next_need(step - 1, n) == step; }))
    close(gate_kind::step, step);
}

void gates::facts_answered(uint64_t up_to) {
  std::erase_if(closed_, [up_to](const auto& g) {
    return g.first.first == gate_kind::fact && g.first.second <= static_cast<int64_t>(up_to);
  });
}

std::optional<int64_t> gates::awaited() const {
  std::optional<int64_t> first;
  for (const auto& [key, gate] : closed_)
    if (gate.asked)
      first = std::min(first.value_or(gate.step), gate.step);
  return first;
}

bool gates::held_by_hooks() const { return closed_.lower_bound({gate_kind::step, INT64_MIN}) != closed_.end(); }

void gates::evaluations_lost(std::optional<int64_t> committed) {
  std::erase_if(closed_, [&](const auto& g) {
    return g.first.first == gate_kind::commit && (!holds_.saved || (committed && g.second.step <= *committed));
  });
}

int64_t gates::limit(int64_t until) const {
  int64_t limit = INT64_MAX;
  for (const auto& [key, gate] : closed_)
    limit = std::min(limit, gate.step);
  for (const auto& n : needs_)
    if (n.gate)
      limit = std::min(limit, next_need(until, n));
  return limit;
}

void gates::cancel_above(int64_t step) {
  std::erase_if(closed_, [step](const auto& g) { return g.first.first != gate_kind::fact && g.second.step > step; });
}

void gates::begin_attempt() { closed_.erase(closed_.begin(), closed_.lower_bound({gate_kind::fact, INT64_MIN})); }

void gates::open_all() { closed_.clear(); }

}  // namespace troupe
