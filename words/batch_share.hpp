// Which batches of an evaluation or a prediction a node handles, where several share them. Plain data.
#pragma once

#include <cstdint>

namespace troupe {

/// Every `every`-th batch of the data, from number `first` on, which are a node's own batches 0, 1, 2, ...
struct batch_share {
  int64_t first = 0;
  int64_t every = 1;  ///< 1: all batches are its own.

  int64_t number_of(int64_t own) const { return first + own * every; }
  /// How many of its own batches have a number below `number`.
  int64_t below(int64_t number) const { return number <= first ? 0 : (number - first - 1) / every + 1; }
  friend bool operator==(const batch_share&, const batch_share&) = default;
};

}  // namespace troupe
