// The iterations of a job whose plan changes while it runs. Plain data.
#pragma once

#include "words/checkpoint_id.hpp"

#include <optional>

namespace troupe {

/// Which iteration a plan is of, and between which states it trains. A job with one plan is of iteration 0, without bounds.
struct plan_iteration {
  int64_t number = 0;
  std::optional<int64_t> begins_at = {};  ///< The state with which the iteration before has ended; absent for the first one.
  std::optional<int64_t> ends_at = {};    ///< Its own last state, whose commit the next iteration begins from; absent: none follows.

  /// Whether a job whose newest commit is `id` goes on with this plan. A commit of iteration t at its last state wants plan t + 1.
  bool goes_on_from(checkpoint_id id) const noexcept {
    return id.iteration == number ? !ends_at || id.step < *ends_at : id.iteration == number - 1 && begins_at == id.step;
  }
  friend bool operator==(const plan_iteration&, const plan_iteration&) = default;
};

}  // namespace troupe
