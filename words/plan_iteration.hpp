// The iterations of a job whose plan changes while it runs. Plain data.
#pragma once

#include "words/checkpoint_id.hpp"

#include <optional>

namespace troupe {

/// The iteration to which a plan belongs, and the states between which it trains. The plan of a job with one plan has
/// iteration 0 and no bounds.
struct plan_iteration {
  int64_t number = 0;
  std::optional<int64_t> begins_at = {};  ///< The last state of the previous iteration; absent for the first one.
  std::optional<int64_t> ends_at = {};    ///< Its own last state, where the next begins; absent: none follows.

  /// Whether a job whose newest commit is `id` continues with this plan. The commit of the last state of iteration t
  /// wants plan t + 1.
  bool goes_on_from(checkpoint_id id) const noexcept {
    return id.iteration == number ? !ends_at || id.step < *ends_at : id.iteration == number - 1 && begins_at == id.step;
  }
  friend bool operator==(const plan_iteration&, const plan_iteration&) = default;
};

}  // namespace troupe
