#include "actors/chief/pace.hpp"

namespace troupe {

void pace::begins(nanoseconds now) {
  since_ = now;
  steps_ = 0;
}

void pace::goes_on(nanoseconds now, int64_t steps) {
  steps_ += steps;
  const auto elapsed = now - since_;
  if (elapsed < std::chrono::milliseconds{10} || steps_ == 0)
    return;
  const double newest = std::chrono::duration<double>(elapsed).count() / static_cast<double>(steps_);
  seconds_per_step_ = seconds_per_step_ > 0 ? 0.8 * seconds_per_step_ + 0.2 * newest : newest;
  cautious_ = newest > cautious_ ? newest : 0.8 * cautious_ + 0.2 * newest;
  begins(now);
}

}  // namespace troupe
