// Shared by reductions: their axes and shapes.
#pragma once

#include "compute/operations/elementwise/elementwise.hpp"

namespace troupe {

/// The axes, counted from the front and sorted; an empty list means all `rank` axes. Nothing if one is out of range or
/// repeated.
std::optional<std::vector<int>> normal_axes(const std::vector<int>& axes, int rank);
/// `dims` without the given axes or, with `keep`, with extents of 1 in their place.
symbol_shape without(const symbol_shape& dims, const std::vector<int>& axes, bool keep);
symbol reduce(const operation& op, domain of, symbol x, const reduce_options& options, dtype type,
              std::source_location at);

}  // namespace troupe
