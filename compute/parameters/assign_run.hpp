// Writes a part of a variable, as large ones arrive in parts.
#pragma once

#include "compute/parameters/parameter_store.hpp"

namespace troupe {

/// Writes the elements of one entry of arena 0 from `first` on; `run` is of rank 1. not_found, invalid_argument naming both.
expected<void> assign_run(parameter_store& store, std::string_view name, int64_t first, const tensor& run);

}  // namespace troupe
