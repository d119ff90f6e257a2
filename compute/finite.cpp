#include "compute/finite.hpp"

namespace troupe {

namespace {

/// A number is not finite when its exponent bits are all ones; the loop has no branch, so it is vectorised.
template <class Bits>
bool all_finite(const std::byte* bytes, int64_t count, Bits exponent) noexcept {
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

bool is_finite(const tensor& values) noexcept {
  switch (values.type()) {
    case dtype::float32: return all_finite<uint32_t>(values.data(), values.elements(), 0x7f800000u);
    case dtype::float64: return all_finite<uint64_t>(values.data(), values.elements(), 0x7ff0000000000000u);
    default: return true;
  }
}

}  // namespace troupe
