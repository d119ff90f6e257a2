// Recovery: whether a job whose attempt has failed makes another one, and after which delay. Plain data.
#pragma once

#include "words/settled_config.hpp"

#include <troupe/error.hpp>

#include <chrono>
#include <utility>

namespace troupe {

/// A failed attempt, described once everything about the failure is known.
struct failed_attempt {
  error cause;              ///< The root cause.
  bool curable = true;      ///< A new attempt can cure all causes (failure_log::curable).
  bool by_chance = false;   ///< A node was killed: the same failure at the same step again is a coincidence.
  int64_t step = 0;         ///< The state that was reached.
  bool checkpoints = true;  ///< The job saves checkpoints, from which an attempt can begin.
  bool stopping = false;    ///< The user has requested a stop.
};

struct recovery_decision {
  bool recovers = false;
  std::chrono::milliseconds delay{0};  ///< Time until the next attempt begins.
  std::string why_not = {};            ///< A note for the user; empty if the cause itself says enough.
};

/// The budget of a job: the number of attempts in a row without a commit beyond the step at which they failed, with
/// delays that double.
class recovery {
 public:
  explicit recovery(recovery_options options = {}) : options_(options) {}

  bool enabled() const noexcept { return options_.attempts_max != 0; }
  /// Decides, and spends the budget if the job recovers.
  recovery_decision decide(const failed_attempt& failed);
  /// The state of `step` is committed. If it lies beyond every failed step, the budget starts anew.
  void committed(int64_t step);
  /// The next attempt waits until `take_delayed`, because something of the last one is still running.
  void delay() { delayed_ = true; }
  bool delayed() const noexcept { return delayed_; }
  bool take_delayed() { return std::exchange(delayed_, false); }
  /// The causes of earlier attempts since the budget last started anew, oldest first; they become notes of a final
  /// error.
  const std::vector<std::string>& earlier() const noexcept { return earlier_; }

 private:
  std::chrono::milliseconds next_delay() const;

  recovery_options options_;
  int64_t spent_ = 0;                 ///< Attempts since the last commit beyond a failed step.
  std::optional<int64_t> failed_at_;  ///< The greatest step at which an attempt failed; absent after a commit beyond
                                      ///< it.
  std::optional<error> last_;         ///< The cause of the previous failure.
  std::vector<std::string> earlier_;
  bool delayed_ = false;
};

}  // namespace troupe
