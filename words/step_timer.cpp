#include "words/text.hpp"

#include <troupe/step_timer.hpp>

#include <cmath>

namespace troupe {

expected<step_timer> step_timer::make(std::optional<int64_t> every_steps, std::optional<double> every_secs) {
  if (every_steps.has_value() == every_secs.has_value())
    return fail(errc::invalid_argument, std::string{"a timer needs either every_steps or every_secs, and "}
                                            + (every_steps ? "both are" : "neither is") + " given");
  if (every_steps && *every_steps <= 0)
    return fail(errc::invalid_argument, "every_steps must be above 0, not " + std::to_string(*every_steps));
  if (every_secs && !(*every_secs > 0 && std::isfinite(*every_secs)))
    return fail(errc::invalid_argument, "every_secs must be above 0 and finite, not " + shortest_text(*every_secs));
  step_timer made;
  made.every_steps_ = every_steps;
  made.every_secs_ = every_secs;
  return made;
}

bool step_timer::due(int64_t step, double now) const noexcept {
  if (!every_steps_ && !every_secs_)
    return false;
  if (!last_step_)
    return true;
  if (*last_step_ == step)
    return false;
  return every_steps_ ? step - *last_step_ >= *every_steps_ : now >= last_time_ + *every_secs_;
}

std::optional<step_timer::interval> step_timer::trigger(int64_t step, double now) noexcept {
  if (!every_steps_ && !every_secs_)
    return {};
  std::optional<interval> passed;
  if (last_step_)
    passed = interval{step - *last_step_, now - last_time_};
  last_step_ = step;
  last_time_ = now;
  return passed;
}

}  // namespace troupe
