// Single elements of any dtype, for errors and reports.
#pragma once

#include <troupe/tensor.hpp>

#include <string>

namespace troupe {

/// The number of non-finite elements, and the first of them. Only floating types have any.
struct not_finite_elements {
  int64_t count = 0;
  int64_t first = -1;
};
not_finite_elements count_not_finite(dtype type, const std::byte* at, int64_t elements);

/// One element of any dtype as text, such as "-0.5" or "nan".
std::string element_text(dtype type, const std::byte* at, int64_t index);
/// The index of an element as text, such as " at [3, 0]"; empty for a scalar.
std::string index_text(const shape& dims, int64_t index);
/// Dtype, shape and range of the finite elements, such as "float32 [4, 5], from -0.5 to 2".
std::string range_text(dtype type, const shape& dims, const std::byte* at);

}  // namespace troupe
