// The outputs and the observed values of a watched step, and what a step records.
#pragma once

#include <troupe/tensor.hpp>

#include <vector>

namespace troupe {

/// The outputs of the step that led to `step` (in an evaluation: of step `step`), in the order of `program::outputs()`.
struct step_values {
  int64_t step = 0;
  std::vector<tensor> values;
  /// From a replica: one set for each of its gradient shards, which the outfeed joins to `values`.
  std::vector<std::vector<tensor>> observed = {};
};

/// What a step recorded for one summary.
struct recorded_tensor {
  int32_t recipe = 0;  ///< Index of the program's summary recipe for it.
  tensor value;
};

}  // namespace troupe
