#include "words/loop_estimator.hpp"

#include "words/text.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace troupe {

namespace {

constexpr double steady_step_secs = 0.03;  // Largest standard deviation.
constexpr double near_of_last = 0.10, near_of_mean = 0.05;
constexpr double steps_max = 1e15;  // Exact as double, and far from the end of int64_t.

bool is_near(double actual, double wanted, double fraction) { return std::abs(actual - wanted) <= fraction * wanted; }

template <class Samples, class Of>
double mean(const Samples& samples, Of of) {
  const double sum = std::accumulate(samples.begin(), samples.end(), 0.0,
                                     [&of](double before, const auto& s) { return before + of(s); });
  return sum / static_cast<double>(samples.size());
}

}  // namespace

expected<loop_estimator> loop_estimator::make(int64_t capacity) {
  if (capacity < 1)
    return fail(errc::invalid_argument,
                "an estimator of loops must remember at least 1, not " + std::to_string(capacity));
  return loop_estimator{static_cast<size_t>(capacity)};
}

void loop_estimator::add(double runtime_secs, int64_t steps) {
  if (!(runtime_secs > 0) || !std::isfinite(runtime_secs) || steps < 1)
    return;
  samples_.push_back({runtime_secs, runtime_secs / static_cast<double>(steps)});
  if (samples_.size() > capacity_)
    samples_.pop_front();
  ++seen_;
}

bool loop_estimator::is_settled(double total_secs) const {
  if (seen_ <= static_cast<int64_t>(capacity_))
    return false;
  const double mean_step = mean(samples_, [](const sample& s) { return s.step_secs; });
  const double variance = mean(samples_,
                               [&](const sample& s) { return (s.step_secs - mean_step) * (s.step_secs - mean_step); });
  const double mean_runtime = mean(samples_, [](const sample& s) { return s.runtime_secs; });
  return (is_near(samples_.back().runtime_secs, total_secs, near_of_last)
          || is_near(mean_runtime, total_secs, near_of_mean))
         && std::sqrt(variance) < steady_step_secs;
}

expected<int64_t> loop_estimator::steps_for(double total_secs) {
  if (!(total_secs > 0) || !std::isfinite(total_secs))
    return fail(errc::invalid_argument, "a loop must take more than 0 s, not " + shortest_text(total_secs));
  if (samples_.empty())
    return 1;
  if (!answer_ || !is_settled(total_secs)) {
    const double projected = total_secs / mean(samples_, [](const sample& s) { return s.step_secs; });
    answer_ = static_cast<int64_t>(std::floor(std::clamp(projected, 1.0, steps_max) + 0.5));
  }
  return *answer_;
}

}  // namespace troupe
