// Base-128 numbers (varints), lowest seven bits first, as in Protocol Buffers and LevelDB.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace troupe {

/// Removes a number from the beginning of `from`. Absent if it is cut off or has more than 64 bits; `from` is then
/// unspecified.
inline std::optional<uint64_t> take_varint(std::string_view& from) noexcept {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !from.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    if (shift == 63 && byte > 1)
      return {};
    value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80)
      return value;
  }
  return {};
}

inline void append_varint(std::string& to, uint64_t value) {
  for (; value >= 0x80; value >>= 7)
    to.push_back(static_cast<char>(value | 0x80));
  to.push_back(static_cast<char>(value));
}

}  // namespace troupe
