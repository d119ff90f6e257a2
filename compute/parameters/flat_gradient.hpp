// Arithmetic on flat gradients: vectors of layout.gradient_bytes(), 64-byte aligned.
#pragma once

#include "compute/parameters/parameter_store.hpp"

namespace troupe {

/// into += from, element by element, in the dtypes of the layout.
void add_gradient(const parameter_layout& layout, std::byte* into, const std::byte* from);
/// into = a + b, with the same bits as a copy of `a` followed by `add_gradient`. `into` must be neither of them, and
/// must hold a gradient of this layout or zeros: the sparse rows that it marks as touched are cleared first.
void add_gradients(const parameter_layout& layout, std::byte* into, const std::byte* a, const std::byte* b);
/// Whether every element of bytes [first, last) is finite.
bool is_finite(const parameter_layout& layout, std::pair<int64_t, int64_t> slice, const std::byte* gradient);

}  // namespace troupe
