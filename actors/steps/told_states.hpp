// What groups tell of themselves for saves, joined by state. Plain data.
#pragma once

#include "actors/steps/group_reports.hpp"

#include <algorithm>
#include <map>

namespace troupe {

/// Several replicas of a group may tell a part each, since each has a slice of the variables.
class told_states {
 public:
  void add(const std::vector<told_state>& parts) {
    for (const auto& part : parts)
      states_[part.step].insert(part.values.begin(), part.values.end());
  }
  /// Removes and returns the states up to `step` that have all `names`, in order; one that lacks any holds back those
  /// after it.
  std::vector<told_state> take_complete(int64_t step, const std::vector<std::string>& names) {
    std::vector<told_state> taken;
    while (!states_.empty() && states_.begin()->first <= step && has_all(states_.begin()->second, names)) {
      auto first = states_.extract(states_.begin());
      taken.push_back({first.key(), std::move(first.mapped())});
    }
    return taken;
  }
  /// What was told of that state until now; null if nothing was.
  const std::map<std::string, double>* find(int64_t step) const {
    const auto found = states_.find(step);
    return found == states_.end() ? nullptr : &found->second;
  }
  void clear() { states_.clear(); }

 private:
  using values = std::map<std::string, double>;
  static bool has_all(const values& those, const std::vector<std::string>& names) {
    return std::all_of(names.begin(), names.end(), [&](const std::string& name) { return those.contains(name); });
  }

  std::map<int64_t, values> states_;
};

}  // namespace troupe
