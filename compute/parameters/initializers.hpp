// Initial values of variables.
#pragma once

#include "compute/parameters/parameter_store.hpp"

namespace troupe {

/// Fills the memory of one entry by its initialiser, drawn from (seed, name, element).
void initialise(const parameter_entry& e, uint64_t seed, std::byte* to);

}  // namespace troupe
