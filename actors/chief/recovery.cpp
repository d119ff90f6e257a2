#include "actors/chief/recovery.hpp"

#include "words/planted.hpp"

#include <algorithm>
#include <cmath>

namespace troupe {

namespace {

/// Limit on the notes of an error, because a job may recover any number of times.
constexpr size_t notes_max = 16;

bool is_the_same(const error& a, const error& b) {
  return a.category == b.category && a.message == b.message && a.source == b.source && a.step == b.step;
}

}  // namespace

std::chrono::milliseconds recovery::next_delay() const {
  // Even 2^60 times the first delay is far below the limit of a double.
  const double seconds = std::ldexp(options_.first_delay_secs, static_cast<int>(std::min<int64_t>(spent_, 60)));
  return std::chrono::milliseconds{static_cast<int64_t>(std::min(seconds, options_.delay_max_secs) * 1000)};
}

recovery_decision recovery::decide(const failed_attempt& failed) {
  const auto no = [](std::string why = {}) { return recovery_decision{false, {}, std::move(why)}; };
  if (!failed.curable || !enabled())
    return no();
  if (!failed.checkpoints)
    return no(
        "the job does not recover, as it saves no checkpoints: set model_dir, and save_checkpoints_steps or "
        "save_checkpoints_secs");
  if (failed.stopping)
    return no("the job does not recover, as a stop was requested");
  // An outage says nothing about the step at which it happened.
  const bool may_pass = failed.by_chance || failed.cause.category == errc::unavailable;
  if (!may_pass && last_ && is_the_same(*last_, failed.cause))
    return no("the job does not recover again, as the same error came back at step "
              + std::to_string(failed.cause.step.value_or(failed.step)));
  if (options_.attempts_max && spent_ >= *options_.attempts_max)
    return no("the job does not recover again: " + std::to_string(spent_)
              + (spent_ == 1 ? " attempt was" : " attempts were")
              + " made since the last commit (recovery_attempts_max)");
  const auto delay = next_delay();
  ++spent_;
  failed_at_ = std::max(failed_at_.value_or(failed.step), failed.step);
  last_ = failed.cause;
  if (earlier_.size() == notes_max)
    earlier_.erase(earlier_.begin());
  earlier_.push_back("an earlier attempt ended at step " + std::to_string(failed.step) + ": " + to_text(failed.cause));
  return {true, delay, {}};
}

void recovery::committed(int64_t step) {
  if (planted(planted_fault::budget_never_reset))
    return;
  if (!failed_at_ || step <= *failed_at_)
    return;
  spent_ = 0;
  failed_at_.reset();
  last_.reset();
  earlier_.clear();
}

}  // namespace troupe
