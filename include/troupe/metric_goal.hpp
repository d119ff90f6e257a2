// Which metric decides, and which values are better: for the best checkpoint, the best export, and learning rates that
// fall on a plateau.
// Not needed to begin with.
//
//   tr::train_spec training{.input = train,
//                           .keep_best = tr::keep_best{.goal = {.metric = "accuracy", .smaller_is_better = false}}};
#pragma once

#include <troupe/api.hpp>

#include <string>

namespace troupe {

struct metric_goal {
  std::string evaluation = {};  ///< The name of the eval_spec whose results count.
  std::string metric = "loss";
  bool smaller_is_better = true;  ///< Set to false for a metric such as accuracy.

  /// Whether `value` is better than `than` by more than `margin`, which is at least 0. NaN is neither better nor worse.
  bool is_better(double value, double than, double margin = 0) const noexcept {
    return smaller_is_better ? value < than - margin : value > than + margin;
  }
  friend bool operator==(const metric_goal&, const metric_goal&) = default;
};

}  // namespace troupe
