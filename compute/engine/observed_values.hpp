// Joins the values that a model lets hooks observe: from one set for each gradient shard to the values of the whole step.
#pragma once

#include <troupe/tensor.hpp>

#include <string>
#include <vector>

namespace troupe {

struct observable {
  std::string name;
  bool per_row = false;  ///< Its rows are those of the batch; otherwise it is floating, and its mean is shown.
};

/// The values of one step in the order of the observables. `sets` has one set for each gradient shard, in their order. Rows are
/// put one after the other; other values become the mean over all sets, element by element, in float64 by the fixed pairwise
/// tree: the same bits for any number of replicas. A value without sets, without
/// memory, or of which shards have different dtypes or shapes is a tensor without elements.
std::vector<tensor> join_observed(const std::vector<observable>& observables, const std::vector<std::vector<tensor>>& sets);

}  // namespace troupe
