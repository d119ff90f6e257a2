// A timer for what happens every so many steps or seconds, with the rule of the Estimator's hooks (SecondOrStepTimer).
// Not needed to begin with.
//
// It has no clock. A job itself acts at exact multiples of a number of steps; a hook that needs the Estimator's steps,
// or seconds, uses a timer:
//
//   auto timer = tr::step_timer::every_steps(10);
//   if (timer->due(step, now)) { ...; timer->trigger(step, now); }
#pragma once

#include <troupe/error.hpp>

#include <optional>

namespace troupe {

/// A plain value, used by one thread at a time. Times are seconds of any clock, always the same one.
class TROUPE_API step_timer {
 public:
  /// A timer that is never due.
  step_timer() = default;
  /// invalid_argument unless exactly one of the two is given, and it is above 0 and finite.
  static expected<step_timer> make(std::optional<int64_t> every_steps, std::optional<double> every_secs);
  static expected<step_timer> every_steps(int64_t steps) { return make(steps, std::nullopt); }
  static expected<step_timer> every_secs(double seconds) { return make(std::nullopt, seconds); }

  /// True at the first call, and then once the given steps or seconds have passed since the last trigger; never at the
  /// step of that trigger. If called only at the ends of loops of many steps, it is due at the first such end.
  bool due(int64_t step, double now) const noexcept;

  /// Steps and seconds between two triggers.
  struct interval {
    int64_t steps = 0;
    double seconds = 0;
  };
  /// Records `step` as the last trigger, and returns the steps and seconds since the one before; nothing for the first
  /// one, or if the timer is never due.
  std::optional<interval> trigger(int64_t step, double now) noexcept;

  std::optional<int64_t> last_step() const noexcept { return last_step_; }  ///< Of the last trigger.
  void reset() noexcept { last_step_.reset(); }                             ///< Forgets all triggers.

 private:
  std::optional<int64_t> every_steps_;
  std::optional<double> every_secs_;
  std::optional<int64_t> last_step_;
  double last_time_ = 0;
};

}  // namespace troupe
