#include "actors/chief/groups.hpp"

#include "messages/snapshot.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

const group_policy* groups::find(group_id id) const {
  const auto p = std::find_if(policies_.begin(), policies_.end(), [id](const group_policy& g) { return g.id == id; });
  return p == policies_.end() ? nullptr : &*p;
}

bool groups::leaves_for(group_id id, const error& cause) const {
  const auto* policy = find(id);
  return policy && policy->leaves != leaves_on::never && !has_left(id) && cause.category == errc::nan_loss;
}

bool groups::may_drop(group_id id) const {
  const auto* policy = find(id);
  return policy && policy->leaves == leaves_on::numbers_and_death && !is_dropped(id);
}

const departure& groups::leave_at(int64_t step, group_id id, const error& cause) {
  // Its part of state `step` was sent before the step that failed.
  return left_.insert_or_assign(id, departure{step, step + 1, to_string(cause)}).first->second;
}

void groups::restore(int64_t step, const std::map<std::string, std::string>& properties) {
  left_.clear();
  for (const auto& p : policies_)
    if (const auto book = properties.find(departure_key(p.name)); book != properties.end()) {
      char* rest = nullptr;
      const int64_t left_at = std::strtoll(book->second.c_str(), &rest, 10);
      left_.emplace(p.id, departure{left_at, std::min(step, left_at + 1), std::string{rest}.substr(std::min<size_t>(1, std::string_view{rest}.size()))});
    }
  for (const auto& [id, why] : dropped_)
    left_.emplace(id, departure{step, step, why});
}

std::map<std::string, std::string> groups::books(int64_t step) const {
  std::map<std::string, std::string> all;
  for (const auto& [id, d] : left_)
    if (step >= d.first_state)
      all.emplace(departure_key(find(id)->name), std::to_string(d.step) + " " + d.why);
  return all;
}

std::string groups::text_of(group_id id) const {
  const auto& d = left_.at(id);
  return "group " + quoted(find(id)->name) + " left at step " + std::to_string(d.step) + ": " + d.why;
}

std::string groups::text() const {
  return joined(left_, "; ", [this](const auto& entry) { return text_of(entry.first); });
}

}  // namespace troupe
