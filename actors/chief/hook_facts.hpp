// Facts for the hooks: how many are unanswered, the progress that hooks have not received, and the fact that they hold.
// Plain data.
#pragma once

#include "actors/chief/fact_window.hpp"
#include "actors/chief/held_progress.hpp"
#include "actors/chief/listeners.hpp"

namespace troupe {

class hook_facts : public fact_window {
 public:
  held_progress progress;  ///< Sent when the hooks have caught up.
  listeners listening;     ///< Saving listeners.
  bool loops = false;      ///< Whether a hook is told of loops.
  bool runs = false;       ///< Whether a hook is told of runs.

  /// Fact `number` about state `step` was sent, and hooks hold it; its attempt may have failed since.
  void hold(uint64_t number, int64_t step) { held_ = {number, step}; }
  /// The number and the state of the newest held fact that the hooks have not answered.
  const std::optional<std::pair<uint64_t, int64_t>>& held() const noexcept { return held_; }
  void answered(nanoseconds now, uint64_t number) {
    fact_window::answered(now, number);
    if (held_ && held_->first <= number)
      held_.reset();
  }

 private:
  std::optional<std::pair<uint64_t, int64_t>> held_;
};

}  // namespace troupe
