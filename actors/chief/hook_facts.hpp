// Facts for the hooks: how far these are behind, progress that they have not received, and the fact that they hold. Plain data.
#pragma once

#include "actors/chief/fact_window.hpp"
#include "actors/chief/held_progress.hpp"
#include "actors/chief/listeners.hpp"

namespace troupe {

class hook_facts : public fact_window {
 public:
  held_progress progress;  ///< Sent when the hooks have caught up.
  listeners listening;     ///< Saving listeners.

  /// A fact that hooks hold was sent, which is of this state; it may be of an attempt that has failed.
  void hold(uint64_t number, int64_t step) { held_ = {number, step}; }
  /// The newest of these which they have not answered: its number and its state.
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
