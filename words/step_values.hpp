// The outputs of a watched step.
#pragma once

#include <troupe/tensor.hpp>

#include <vector>

namespace troupe {

/// The outputs of the step that led to `step` (evaluating: of step `step`), in the order of `program::outputs()`.
struct step_values {
  int64_t step = 0;
  std::vector<tensor> values;
};

}  // namespace troupe
