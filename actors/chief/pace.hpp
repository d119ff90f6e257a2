// Pace: the time per step, measured between reports and not by the replicas' computing time, since a job may also wait
// for an input or a hook.
#pragma once

#include <chrono>
#include <cstdint>

namespace troupe {

class pace {
 public:
  using nanoseconds = std::chrono::nanoseconds;

  /// Steps were granted at `now` to an idle job: earlier time does not count.
  void begins(nanoseconds now);
  /// `steps` more are done.
  void goes_on(nanoseconds now, int64_t steps);
  /// A moving average of measurements over at least 10 ms; the newest has a weight of one fifth. 0: unknown.
  double seconds_per_step() const { return seconds_per_step_; }
  /// As above, but a slower measurement counts at once. Used for the horizon, because a grant cannot be withdrawn.
  double cautious_seconds_per_step() const { return cautious_; }

 private:
  nanoseconds since_{0};
  int64_t steps_ = 0;
  double seconds_per_step_ = 0, cautious_ = 0;
};

}  // namespace troupe
