// When something that happens every so many steps or seconds is due: the rule of the Estimator's hooks (SecondOrStepTimer).
// Not needed to begin with.
//
// A plain object without a clock of its own. A job itself acts on exact multiples of a number of steps; a hook that wants the Estimator's points in time, or
// seconds, asks a timer:
//
//   auto timer = tr::step_timer::every_steps(10);
//   if (timer->due(step, now)) { ...; timer->trigger(step, now); }
#pragma once

#include <troupe/error.hpp>

#include <optional>

namespace troupe {

/// A plain value, used by one thread at a time. Times are seconds of any one clock.
class TROUPE_API step_timer {
 public:
  /// Never due.
  step_timer() = default;
  /// invalid_argument unless exactly one of them is given, and it is above 0 and finite.
  static expected<step_timer> make(std::optional<int64_t> every_steps, std::optional<double> every_secs);
  static expected<step_timer> every_steps(int64_t steps) { return make(steps, std::nullopt); }
  static expected<step_timer> every_secs(double seconds) { return make(std::nullopt, seconds); }

  /// True for the first step that it is asked about; never for the step of the last trigger; then once so many steps, or seconds, have
  /// passed since that. Asked at the ends of loops of many steps, it is due at the first of these ends.
  bool due(int64_t step, double now) const noexcept;

  /// Steps and seconds between two triggers.
  struct interval {
    int64_t steps = 0;
    double seconds = 0;
  };
  /// Counts `step` as the newest trigger. Returns what has passed since the one before; nothing for the first one, and for a timer that is
  /// never due.
  std::optional<interval> trigger(int64_t step, double now) noexcept;

  std::optional<int64_t> last_step() const noexcept { return last_step_; }  ///< Of the newest trigger.
  void reset() noexcept { last_step_.reset(); }                             ///< As if it had never been triggered.

 private:
  std::optional<int64_t> every_steps_;
  std::optional<double> every_secs_;
  std::optional<int64_t> last_step_;
  double last_time_ = 0;
};

}  // namespace troupe
