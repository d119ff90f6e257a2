#include "compute/kernels/finite.hpp"

namespace troupe {

namespace {

/// A number is not finite when its exponent bits are all ones. The loop has no branch, so the compiler vectorises it.
template <class Bits>
bool none_has(const std::byte* bytes, int64_t count, Bits exponent) noexcept {
  const auto* x = reinterpret_cast<const Bits*>(bytes);
  constexpr int64_t chunk = 4096;
  for (int64_t first = 0; first < count; first += chunk) {
    const int64_t last = first + chunk < count ? first + chunk : count;
    Bits bad = 0;
    for (int64_t i = first; i < last; ++i)
      bad |= static_cast<Bits>((x[i] & exponent) == exponent);
    if (bad != 0)
      return false;
  }
  return true;
}

}  // namespace

bool all_finite(dtype type, const std::byte* values, int64_t elements) noexcept {
  switch (type) {
    case dtype::float32: return none_has<uint32_t>(values, elements, 0x7f800000u);
    case dtype::float64: return none_has<uint64_t>(values, elements, 0x7ff0000000000000u);
    default: return true;
  }
}

bool is_finite(const tensor& values) noexcept { return all_finite(values.type(), values.data(), values.elements()); }

}  // namespace troupe
