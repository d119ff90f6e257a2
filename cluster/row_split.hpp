// Batches cut into equal parts for the replicas of a host, by TPUEstimator's rule for its infeed queue. Jobs cut along
// axis 0, the rows; other axes are for inputs that keep their rows elsewhere. Functions only: no infeed feeds several
// replicas yet.
#pragma once

#include <troupe/tensor.hpp>

namespace troupe {

/// Indices [first, first + count) of one axis. Shares the buffer if the axis is 0, else copies. The indices must exist.
/// resource_exhausted: no memory for the copy.
expected<tensor> cut(const tensor& whole, int axis, int64_t first, int64_t count);

/// Cuts the components of a batch into `parts` parts: part i has the i-th contiguous indices of each component's axis.
/// `axes` has one axis for each component, or is empty: 0 for all. With one part nothing is cut, and axes may not fit.
/// Returns the parts, each with all components in their order.
/// invalid_argument: no component, fewer than one part, another number of axes than of components, or an axis that a
/// component does not have or whose extent is no multiple of `parts`; names the component's index, shape and axis.
expected<std::vector<std::vector<tensor>>> split(std::span<const tensor> components, int64_t parts,
                                                 std::span<const int64_t> axes = {});

}  // namespace troupe
