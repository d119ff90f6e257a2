// What groups have told of themselves for saves, until these are committed. Plain data.
#pragma once

#include "messages/report.hpp"

namespace troupe {

class told_values {
 public:
  void enter(const told_state& x) { states_[x.step] = x.values; }
  bool has(int64_t step) const { return states_.contains(step); }
  /// Empty if nothing was told of that state.
  std::map<std::string, double> at(int64_t step) const {
    const auto found = states_.find(step);
    return found == states_.end() ? std::map<std::string, double>{} : found->second;
  }
  /// The state is committed: earlier ones are not asked for again.
  void committed(int64_t step) { states_.erase(states_.begin(), states_.lower_bound(step)); }

 private:
  std::map<int64_t, std::map<std::string, double>> states_;
};

}  // namespace troupe
