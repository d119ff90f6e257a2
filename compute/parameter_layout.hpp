// The flat vectors of a layout, for code that walks them.
#pragma once

#include "compute/parameter_store.hpp"

namespace troupe {

/// The trainable variables of one dtype: bytes [first, last) of the gradient vector, and where the vectors of the same
/// layout begin in an arena.
struct gradient_run {
  dtype type = dtype::float32;
  int64_t first = 0, last = 0;
  int64_t variables = 0;
  std::vector<int64_t> slots;
};

std::vector<gradient_run> gradient_runs(const parameter_layout& layout);

/// The starting value of one entry, drawn from (seed, name).
void initialise(const parameter_entry& e, uint64_t seed, std::byte* to);

}  // namespace troupe
