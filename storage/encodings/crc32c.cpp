#include "storage/encodings/crc32c.hpp"

#include <isa-l/crc.h>

#include <algorithm>

namespace troupe {

uint32_t crc32c(std::span<const std::byte> bytes, uint32_t crc) noexcept {
  constexpr size_t chunk_max = size_t{1} << 30;  // The library takes the length as an int.
  uint32_t state = ~crc;
  while (!bytes.empty()) {
    const size_t n = std::min(bytes.size(), chunk_max);
    // The library's parameter is not const, but it only reads.
    auto* p = const_cast<unsigned char*>(reinterpret_cast<const unsigned char*>(bytes.data()));
    state = crc32_iscsi(p, static_cast<int>(n), state);
    bytes = bytes.subspan(n);
  }
  return ~state;
}

uint32_t crc32c(std::string_view bytes, uint32_t crc) noexcept { return crc32c(std::as_bytes(std::span{bytes}), crc); }

std::string crc32c_text(uint32_t crc) {
  std::string text(8, '0');
  for (size_t i = 8; i-- > 0; crc >>= 4)
    text[i] = "0123456789abcdef"[crc & 15];
  return text;
}

std::optional<uint32_t> parse_crc32c(std::string_view text) noexcept {
  uint32_t crc = 0;
  for (const char c : text) {
    const size_t digit = std::string_view{"0123456789abcdef"}.find(c);
    if (digit == std::string_view::npos)
      return {};
    crc = crc << 4 | static_cast<uint32_t>(digit);
  }
  return text.size() == 8 ? std::optional{crc} : std::nullopt;
}

}  // namespace troupe
