#include "actors/chief/evaluation_schedule.hpp"

#include "actors/chief/decisions.hpp"

namespace troupe {

std::optional<checkpoint_id> evaluation_schedule::offer(checkpoint_id id) {
  const auto superseded = waiting_ != id ? waiting_ : std::nullopt;
  waiting_ = id;
  return superseded;
}

namespace {
constexpr int64_t records_each = 2;
}  // namespace

bool evaluation_schedule::may_ask(bool recorded) {
  const bool possible = shows_ && !asked_ && !(recorded && records_ + records_each > record_credit_);
  asked_ = asked_ || possible;
  return possible;
}

evaluation_schedule::next evaluation_schedule::decide(const situation& s) const {
  if (running_ || exporting_ || !waiting_)
    return next::nothing;
  std::optional<double> since;
  if (began_)
    since = std::chrono::duration<double>(s.now - *began_).count();
  const bool too_early = !s.at_the_end && std::chrono::duration<double>(s.now).count() < start_delay_secs_;
  const bool too_near = !s.at_the_end && last_ && waiting_->step - last_->step < least_steps_;
  if (!s.possible || too_early || too_near || !evaluation_due(since, throttle_secs_, s.at_the_end))
    return next::skip;
  return s.recorded && records_ + records_each > record_credit_ ? next::need_room : next::begin;
}

evaluation_schedule::nanoseconds evaluation_schedule::due() const {
  // Nine years are as good as for ever, and fit.
  const auto in_ns = [](double secs) { return nanoseconds{static_cast<int64_t>(std::min(secs, 3e8) * 1e9)}; };
  const auto delayed = in_ns(start_delay_secs_);
  return began_ ? std::max(delayed, *began_ + in_ns(throttle_secs_)) : delayed;
}

void evaluation_schedule::begin(nanoseconds now) {
  began_ = now;
  running_ = std::exchange(waiting_, std::nullopt);
}

std::optional<checkpoint_id> evaluation_schedule::end() {
  const bool checked = checks_;
  const auto ended = lose();
  if (ended && !checked)
    last_ = ended;
  return ended;
}

}  // namespace troupe
