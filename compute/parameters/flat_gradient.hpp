// Arithmetic on flat gradients: vectors of layout.gradient_bytes(), 64-byte aligned.
#pragma once

#include "compute/parameters/parameter_store.hpp"

namespace troupe {

/// A gradient whose bits of touched rows may be apart from its values, so that several threads can add slices of it
/// side by side. `bits` is where the layout's bits begin (`parameter_layout::flat_bytes`).
struct gradient_view {
  const std::byte *values = nullptr, *bits = nullptr;
};
inline gradient_view whole_gradient(const parameter_layout& layout, const std::byte* gradient) {
  return {gradient, gradient + layout.flat_bytes()};
}

/// into += from, element by element, in the dtypes of the layout.
void add_gradient(const parameter_layout& layout, std::byte* into, const std::byte* from);
/// The same for bytes [slice), a range of whole lines of 64 bytes, and for all bits: `bits` are those of `into`.
void add_gradient(const parameter_layout& layout, std::pair<int64_t, int64_t> slice, std::byte* into, std::byte* bits,
                  gradient_view from);
/// into = a + b in bytes [slice) and in all bits, with the same bits as a copy of `a` followed by `add_gradient`.
/// `into` must be neither of them, and must hold a gradient of this layout or zeros: the sparse rows that it marks as
/// touched are cleared first.
void add_gradients(const parameter_layout& layout, std::pair<int64_t, int64_t> slice, std::byte* into, std::byte* bits,
                   gradient_view a, gradient_view b);
/// Whether every element of bytes [first, last) is finite.
bool is_finite(const parameter_layout& layout, std::pair<int64_t, int64_t> slice, gradient_view gradient);
bool is_finite(const parameter_layout& layout, std::pair<int64_t, int64_t> slice, const std::byte* gradient);

}  // namespace troupe
