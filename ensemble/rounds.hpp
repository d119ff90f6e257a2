// The rounds of the workers of a search: each trains an iteration, waits until the chief has begun the next one, and
// goes on with it a little later than the workers before it. No message passes between them: what the newest checkpoint
// says is the signal. Functions only: no process trains as a worker yet.
//
//   train iteration t ──► round_wait ── look ──► look_later ──┐
//          ▲                  ▲  │ │                          │
//          │                  └──┼─┼──────────────────────────┘
//          └─ begin_iteration ◄──┘ └──► leave_search
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

namespace troupe {

struct search_options;

/// Times and durations of the caller's clock. Whole nanoseconds, so that a wait ends exactly where it should.
using round_time = std::chrono::nanoseconds;

/// The options of a search that are about this.
struct round_rules {
  double delay_secs_per_worker = 5, max_worker_delay_secs = 60;
  double worker_wait_secs = 5, worker_wait_timeout_secs = 7200;
  std::optional<int64_t> max_steps = {};  ///< The global step at which training ends; absent: no limit.
};
round_rules rules_of(const search_options& o, std::optional<int64_t> max_steps);

/// By how much worker `task` (0 is the first after the chief) begins an iteration later than the chief, so that
/// not all of them begin at once. At most `max_worker_delay_secs`.
round_time stagger_of(const round_rules& rules, int64_t task);

/// A time that runs out once, and stays out.
class countdown {
 public:
  countdown(round_time whole, round_time now) : ends_at_(now + std::max(whole, round_time{0})) {}
  /// Never below 0.
  round_time left(round_time now) const noexcept { return std::max(ends_at_ - now, round_time{0}); }

 private:
  round_time ends_at_;
};

/// What the newest checkpoint of the search says.
struct round_news {
  int64_t iteration = 0, global_step = 0;
};

struct look_later {
  round_time at{};
  friend bool operator==(const look_later&, const look_later&) = default;
};
struct begin_iteration {
  int64_t iteration = 0;
  round_time at{};
  friend bool operator==(const begin_iteration&, const begin_iteration&) = default;
};
/// The worker is no longer needed. It ends with status 0 either way.
struct leave_search {
  bool chief_is_lost = false;  ///< To be logged as an error.
  std::string why = {};
  friend bool operator==(const leave_search&, const leave_search&) = default;
};
using round_step = std::variant<look_later, begin_iteration, leave_search>;

/// A worker that has ended iteration `iteration`, or returns after its process had ended, waits for the chief.
class round_wait {
 public:
  round_wait(round_rules rules, int64_t task, int64_t iteration, round_time now);
  /// `newest`: absent if there is no checkpoint yet.
  round_step look(round_time now, const std::optional<round_news>& newest) const;

 private:
  round_rules rules_;
  int64_t task_, iteration_;
  countdown patience_;
};

}  // namespace troupe
