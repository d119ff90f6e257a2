// Checks for finite numbers.
#pragma once

#include <troupe/tensor.hpp>

namespace troupe {

/// Whether every element of a floating tensor is finite; true for other dtypes. Runs at nearly the speed of memory.
bool is_finite(const tensor& values) noexcept;
bool all_finite(dtype type, const std::byte* values, int64_t elements) noexcept;

}  // namespace troupe
