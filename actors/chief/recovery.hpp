// Recovery: whether a job whose attempt has failed makes another one, and after which delay. Plain data.
#pragma once

#include "words/settled_config.hpp"

#include <troupe/error.hpp>

#include <chrono>
#include <utility>

namespace troupe {

/// A failed attempt, after everything that can be known about it is known.
struct failed_attempt {
  error cause;              ///< The root cause.
  bool curable = true;      ///< A new attempt can cure all causes (failure_log::curable).
  bool by_chance = false;   ///< A node was killed: that it happens at the same step again says nothing.
  int64_t step = 0;         ///< The state that was reached.
  bool checkpoints = true;  ///< The job saves checkpoints, from which an attempt can begin.
  bool stopping = false;    ///< A stop was requested.
};

struct recovery_verdict {
  bool recovers = false;
  std::chrono::milliseconds delay{0};  ///< Until the next attempt begins.
  std::string why_not = {};            ///< A note for the user; empty where the cause itself says enough.
};

/// The budget of a job: so many attempts in a row without a commit beyond the step at which they failed, with delays that
/// double.
class recovery {
 public:
  explicit recovery(recovery_options options = {}) : options_(options) {}

  bool enabled() const noexcept { return options_.attempts_max != 0; }
  /// Decides, and spends the budget if the job recovers.
  recovery_verdict decide(const failed_attempt& failed);
  /// The state of `step` is committed: beyond every failed step, the budget counts anew.
  void committed(int64_t step);
  /// The attempt that follows has to wait until `take_delayed`: something of the last one goes on.
  void delay() { delayed_ = true; }
  bool delayed() const noexcept { return delayed_; }
  bool take_delayed() { return std::exchange(delayed_, false); }
  /// The causes of earlier attempts since then, oldest first; they are notes of a final error.
  const std::vector<std::string>& earlier() const noexcept { return earlier_; }

 private:
  std::chrono::milliseconds next_delay() const;

  recovery_options options_;
  int64_t spent_ = 0;                      ///< Attempts since the last commit beyond a failed step.
  std::optional<int64_t> failed_at_;       ///< The greatest step at which an attempt has failed since then.
  std::optional<error> last_;              ///< The cause of the attempt before.
  std::vector<std::string> earlier_;
  bool delayed_ = false;
};

}  // namespace troupe
