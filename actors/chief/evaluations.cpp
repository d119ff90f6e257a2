#include "actors/chief/evaluations.hpp"

#include "actors/chief/decisions.hpp"

namespace troupe {

std::optional<checkpoint_id> evaluations::offer(checkpoint_id id) {
  const auto superseded = waiting_ != id ? waiting_ : std::nullopt;
  waiting_ = id;
  if (!was_offered(id))
    offered_ = id;
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

std::optional<checkpoint_id> evaluations::end() {
  const auto ended = lose();
  if (ended)
    last_ = ended;
  return ended;
}

}  // namespace troupe
