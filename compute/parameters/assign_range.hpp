// Writes a range of a variable. Large variables arrive in several ranges.
#pragma once

#include "compute/parameters/parameter_store.hpp"

namespace troupe {

/// Writes `range`, of rank 1, to the entry called `name` in arena 0, from element `first` on. not_found;
/// invalid_argument, naming entry and range, if they do not fit.
expected<void> assign_range(parameter_store& store, std::string_view name, int64_t first, const tensor& range);

}  // namespace troupe
