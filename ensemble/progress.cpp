#include "ensemble/progress.hpp"

#include "words/guarded.hpp"
#include "words/text.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {

namespace {

tl::unexpected<error> refuse(const std::string& why) { return fail(errc::invalid_argument, why); }

expected<int64_t> combined(const std::vector<int64_t>& steps, const step_combiner& combine) {
  const auto result = guarded("global_step_combiner", [&] { return combine(steps); });
  if (!result)
    return fail(result.error());
  if (*result >= 0 && *result <= static_cast<double>(ticks_max))
    return static_cast<int64_t>(*result);
  return fail(errc::state, "global_step_combiner must return a number from 0 to 2^53, and returned "
                               + shortest_text(*result) + " for the steps " + joined(steps));
}

/// Counts global steps at ticks, and checks that they do not fall between two of them.
class counter {
 public:
  counter(const iteration_progress& x, const step_combiner& combine) : x_(x), combine_(combine) {}

  expected<reached_state> at(int64_t tick) const {
    return global_step_at(x_, tick, combine_).map([tick](int64_t step) { return reached_state{tick, step}; });
  }
  /// The first tick after `low`, up to `high`, with the goal, which `high` has and `low` has not.
  expected<std::optional<int64_t>> search(reached_state low, reached_state high, int64_t goal) const {
    while (high.tick - low.tick > 1) {
      const auto middle = at(low.tick + (high.tick - low.tick) / 2);
      if (!middle)
        return fail(middle.error());
      for (const auto& right : {check_rise(low, *middle), check_rise(*middle, high)})
        if (!right)
          return fail(right.error());
      (middle->global_step < goal ? low : high) = *middle;
    }
    return high.tick;
  }

 private:
  const iteration_progress& x_;
  const step_combiner& combine_;
};

}  // namespace

expected<void> validate(const search_limits& limits) {
  const std::pair<const char*, std::optional<int64_t>> all[] = {{"max_iteration_steps", limits.max_iteration_steps},
                                                                {"max_iterations", limits.max_iterations},
                                                                {"steps", limits.steps},
                                                                {"max_steps", limits.max_steps}};
  for (const auto& [name, value] : all)
    if (value && (*value < 1 || *value > ticks_max))
      return refuse(std::string{name} + (*value < 1 ? " must be at least 1, not " : " must be at most 2^53, not ")
                    + std::to_string(*value));
  if (limits.steps && limits.max_steps)
    return refuse("steps (" + std::to_string(*limits.steps) + ") and max_steps (" + std::to_string(*limits.max_steps)
                  + ") exclude one another");
  return {};
}

std::optional<int64_t> lesser(const std::optional<int64_t>& a, const std::optional<int64_t>& b) {
  return a && b ? std::min(a, b) : a ? a : b;
}

std::optional<int64_t> goal_of(const search_limits& limits, int64_t global_step) {
  return limits.steps ? global_step + *limits.steps : limits.max_steps;
}

std::string_view to_string(stop_cause cause) noexcept {
  switch (cause) {
    case stop_cause::complete: return "complete";
    case stop_cause::already_complete: return "already_complete";
    case stop_cause::hook: return "hook";
    case stop_cause::end_of_input: return "end_of_input";
    case stop_cause::dropped: return "dropped";
  }
  return "unknown";
}

std::string to_text(const spec_stop& stop) {
  const auto steps = std::to_string(stop.step) + (stop.step == 1 ? " step" : " steps");
  const auto detail = stop.detail.empty() ? "" : ": " + stop.detail;
  switch (stop.cause) {
    case stop_cause::complete: return "completed " + steps + detail;
    case stop_cause::already_complete: return "was already complete after " + steps + detail;
    case stop_cause::hook: return "a hook of its own asked to stop after " + steps + detail;
    case stop_cause::end_of_input: return "the end of its input after " + steps + detail;
    case stop_cause::dropped: return "dropped after " + steps + detail;
  }
  return detail;
}

std::optional<int64_t> last_step(const spec_progress& x) {
  if (x.stop && x.stop->cause != stop_cause::dropped)
    return x.stop->step;
  if (x.stop && x.stop->otherwise)
    return x.stop->otherwise->step;
  return x.limit ? std::optional{std::max(*x.limit, x.step)} : std::nullopt;
}

std::optional<int64_t> over_at(const iteration_progress& x) {
  int64_t steps = 0;
  for (const auto& subnetwork : x.subnetworks) {
    const auto last = last_step(subnetwork);
    if (!last)
      return std::nullopt;
    steps = std::max(steps, *last);
  }
  return x.begins_at + steps;
}

int64_t step_at(const spec_progress& x, int64_t begins_at, int64_t tick) {
  return std::min(tick - begins_at, last_step(x).value_or(INT64_MAX));
}

int64_t made_at(const spec_progress& x, int64_t begins_at, int64_t tick) {
  const int64_t counted = step_at(x, begins_at, tick);
  return x.stop ? std::min(counted, x.stop->step) : counted;
}

expected<int64_t> global_step_at(const iteration_progress& x, int64_t tick, const step_combiner& combine) {
  std::vector<int64_t> steps;
  int64_t sum = 0;
  for (const auto& subnetwork : x.subnetworks) {
    const int64_t own = step_at(subnetwork, x.begins_at, tick);
    steps.push_back(x.base_step + own);
    sum += own;
  }
  return combine ? combined(steps, combine) : x.base_step + sum / static_cast<int64_t>(steps.size());
}

expected<void> check_rise(const reached_state& earlier, const reached_state& later) {
  if (later.global_step >= earlier.global_step)
    return {};
  return fail(errc::state, "the global step falls from " + std::to_string(earlier.global_step) + " at tick "
                               + std::to_string(earlier.tick) + " to " + std::to_string(later.global_step) + " at tick "
                               + std::to_string(later.tick) + ": global_step_combiner must not fall");
}

expected<std::optional<int64_t>> reaches(const iteration_progress& x, int64_t from, int64_t goal,
                                         const step_combiner& combine) {
  const counter count{x, combine};
  auto low = count.at(from);
  if (!low || low->global_step >= goal)
    return low.map([](const reached_state& c) { return std::optional{c.tick}; });
  const int64_t most = over_at(x).value_or(from + ticks_max);
  for (int64_t ahead = 1; low->tick < most; ahead *= 2) {
    const auto high = count.at(std::min(most, from + ahead));
    if (!high)
      return fail(high.error());
    if (auto right = check_rise(*low, *high); !right)
      return fail(std::move(right.error()));
    if (high->global_step >= goal)
      return count.search(*low, *high, goal);
    low = high;
  }
  return std::nullopt;
}

next_phase phase_after(const search_limits& limits, std::optional<int64_t> goal, const stretch_end& end) {
  if (goal && end.global_step >= *goal)
    return next_phase::max_steps;
  if (!end.is_over || end.was_stopped)
    return next_phase::open;
  return limits.max_iterations && end.iteration + 1 >= *limits.max_iterations ? next_phase::max_iterations
                                                                              : next_phase::choose;
}

}  // namespace troupe
