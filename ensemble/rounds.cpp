#include "ensemble/rounds.hpp"

#include "words/start_delay.hpp"
#include "words/text.hpp"

#include <troupe/search/options.hpp>

#include <algorithm>

namespace troupe {

round_rules rules_of(const search_options& o, std::optional<int64_t> max_steps) {
  return {o.delay_secs_per_worker, o.max_worker_delay_secs, o.worker_wait_secs, o.worker_wait_timeout_secs, max_steps};
}

namespace {

/// At most a hundred years, so that sums do not overflow.
round_time of_secs(double secs) {
  constexpr double most = 4e9;
  return std::chrono::duration_cast<round_time>(std::chrono::duration<double>(std::clamp(secs, 0.0, most)));
}

}  // namespace

round_time stagger_of(const round_rules& rules, int64_t task) {
  return of_secs(start_delay_secs(task, rules.delay_secs_per_worker, rules.max_worker_delay_secs));
}

round_wait::round_wait(round_rules rules, int64_t task, int64_t iteration, round_time now)
  : rules_(rules), task_(task), iteration_(iteration), patience_(of_secs(rules.worker_wait_timeout_secs), now) {}

round_step round_wait::look(round_time now, const std::optional<round_news>& newest) const {
  if (newest && rules_.max_steps && newest->global_step >= *rules_.max_steps)
    return leave_search{false, "the search has ended at global step " + std::to_string(newest->global_step)};
  if (newest && newest->iteration > iteration_)
    return begin_iteration{newest->iteration, now + stagger_of(rules_, task_)};
  const auto left = patience_.left(now);
  if (left == round_time{0})
    return leave_search{true, "the chief has not begun iteration " + std::to_string(iteration_ + 1) + " within "
                                  + shortest_text(rules_.worker_wait_timeout_secs)
                                  + " s (worker_wait_timeout_secs): it was killed, stopped or has failed"};
  return look_later{now + std::min(of_secs(rules_.worker_wait_secs), left)};
}

}  // namespace troupe
