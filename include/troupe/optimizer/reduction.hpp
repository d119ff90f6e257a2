// How the gradients of the shards of a batch become the one that an optimizer applies.
// Not needed to begin with.
//
// A batch is divided into S shards of equal size (run_config::gradient_shards; by default one for each replica). l_i is
// the loss that the model computes from the rows of shard i, penalties on variables included.
//
//   mean   g = Σ_i d(l_i / S)/dv, the gradient of the mean of the shards' losses. Where a loss is a mean over rows, g
//          is the gradient of the whole batch's loss, and S changes only its rounding.
//   sum    g = Σ_i d(l_i)/dv, S times that. For losses that are sums over rows: g is the gradient of their sum over the
//          whole batch. Where a loss is a mean over rows, or has penalties, g grows with S.
//
// What follows applies to g as it is: clipping compares the norm of the sum with its limits, and slots such as a
// momentum collect it. The loss that is shown is the mean over shards for both, and variables that the model assigns
// (graph::assign) are combined as each of them says.
//
// With equal S the bits do not depend on the number of replicas. If `gradient_shards` is not set, S is that number, and
// a job of more replicas has longer sums.
#pragma once

#include <cstdint>

namespace troupe {

enum class reduction : uint8_t {
  mean,  ///< The loss of each shard is multiplied by 1/S before it is differentiated.
  sum,   ///< It is not. CrossShardOptimizer's SUM.
};

}  // namespace troupe
