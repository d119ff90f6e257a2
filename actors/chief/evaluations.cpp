#include "actors/chief/evaluations.hpp"

#include "actors/chief/decisions.hpp"

#include <algorithm>

namespace troupe {

std::optional<int64_t> evaluations::offer(int64_t step) {
  const auto superseded = waiting_ && *waiting_ < step ? waiting_ : std::nullopt;
  waiting_ = step;
  offered_ = std::max(offered_.value_or(step), step);
  return superseded;
}

evaluations::next evaluations::decide(const situation& s) const {
  constexpr int64_t records_each = 2;
  if (running_ || !waiting_)
    return next::nothing;
  std::optional<double> since;
  if (began_)
    since = std::chrono::duration<double>(s.now - *began_).count();
  if (!s.possible || !evaluation_due(since, throttle_secs_, s.at_the_end))
    return next::skip;
  return s.recorded && records_ + records_each > room_ ? next::need_room : next::begin;
}

void evaluations::begin(nanoseconds now) {
  began_ = now;
  running_ = std::exchange(waiting_, std::nullopt);
}

std::optional<int64_t> evaluations::end() {
  const auto ended = lose();
  if (ended)
    last_ = ended;
  return ended;
}

}  // namespace troupe
