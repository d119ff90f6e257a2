// Progress that the hooks have not received yet: while they are busy, new progress is joined with the waiting event.
// Plain data.
#pragma once

#include "actors/chief/decisions.hpp"

namespace troupe {

class held_progress {
 public:
  void begin(int64_t step) { told_ = step; }
  void add(job_event newer) { held_ = held_ ? joined(told_, *held_, std::move(newer)) : std::move(newer); }
  /// All progress since the last call, as one event; absent if there is none.
  std::optional<job_event> take() {
    if (held_)
      told_ = held_->step;
    return std::exchange(held_, std::nullopt);
  }

 private:
  std::optional<job_event> held_;
  int64_t told_ = 0;  ///< The state of the last event that was taken.
};

}  // namespace troupe
