// Pace: how fast a job goes, by the time between its reports and not by what its replicas compute, since an input or a
// hook may be what it waits for.
#pragma once

#include <chrono>
#include <cstdint>

namespace troupe {

class pace {
 public:
  using nanoseconds = std::chrono::nanoseconds;

  /// Steps were granted at `now` to a job that stood still: the time before does not count.
  void begins(nanoseconds now);
  /// `steps` more are done.
  void goes_on(nanoseconds now, int64_t steps);
  /// Measured over 10 ms at least, an average of which a fifth is the newest; 0: not known yet.
  double seconds_per_step() const { return seconds_per_step_; }
  /// The same, but at once as slow as the newest: by it the horizon is laid, which is never taken back.
  double cautious_seconds_per_step() const { return cautious_; }

 private:
  nanoseconds since_{0};
  int64_t steps_ = 0;
  double seconds_per_step_ = 0, cautious_ = 0;
};

}  // namespace troupe
