#include "actors/chief/fact_window.hpp"

#include <algorithm>

namespace troupe {

uint64_t fact_window::told(nanoseconds now, std::optional<int64_t> watch) {
  if (told_.empty())
    busy_since_ = now;
  told_.push_back({++number_, watch});
  return number_;
}

void fact_window::answered(nanoseconds now, uint64_t number) {
  int64_t facts = 0;
  for (; !told_.empty() && told_.front().number <= number; told_.pop_front(), ++facts)
    if (told_.front().watch)
      watches_.erase(*told_.front().watch);
  if (facts == 0)
    return;
  dealt_with_ += facts;
  const double newest = std::chrono::duration<double>(now - busy_since_).count() / static_cast<double>(facts);
  // A slower value takes effect at once, because the horizon depends on it.
  seconds_per_fact_ = newest > seconds_per_fact_ ? newest : 0.9 * seconds_per_fact_ + 0.1 * newest;
  busy_since_ = now;
}

bool fact_window::expects() const {
  const auto shown = std::count_if(told_.begin(), told_.end(), [](const entry& e) { return e.watch.has_value(); });
  return static_cast<std::ptrdiff_t>(watches_.size()) > shown;
}

int64_t fact_window::size() const {
  constexpr double behind_seconds = 0.5;
  const int64_t most = std::min(facts_max, 2 + dealt_with_);
  if (seconds_per_fact_ <= behind_seconds / static_cast<double>(most))
    return most;
  return std::max<int64_t>(1, static_cast<int64_t>(behind_seconds / seconds_per_fact_));
}

int64_t fact_window::room() const {
  // Facts without a watch count, too: each save, warning and evaluation makes one.
  const auto others = std::count_if(told_.begin(), told_.end(), [](const entry& e) { return !e.watch; });
  return std::max<int64_t>(0, size() - static_cast<int64_t>(watches_.size()) - static_cast<int64_t>(others));
}

}  // namespace troupe
