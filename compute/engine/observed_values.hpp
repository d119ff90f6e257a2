// Joins observed values: from one set for each gradient shard to the values of the whole step.
#pragma once

#include <troupe/tensor.hpp>

#include <span>
#include <string>
#include <vector>

namespace troupe {

struct observable {
  std::string name;
  bool per_row = false;  ///< Whether its first axis is the batch. If not, it is floating, and hooks see its mean.
};

/// The values of one step, in the order of the observables. `sets` has one set for each gradient shard, in shard order.
/// Per-row values are concatenated. Other values become the element-wise mean over all sets, in float64 by the fixed
/// pairwise tree: the same bits for any number of replicas. A value is a tensor without elements if there are no sets,
/// if memory is short, or if shards have different dtypes or shapes.
std::vector<tensor> join_observed(const std::vector<observable>& observables,
                                  const std::vector<std::vector<tensor>>& sets);

/// At least one part, all of one dtype and of one shape behind axis 0, one after the other on axis 0; without elements
/// if memory is short.
tensor join_rows(std::span<const tensor> parts);

}  // namespace troupe
