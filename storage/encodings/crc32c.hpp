// CRC-32C (Castagnoli), the checksum of all stored data. "123456789" gives 0xe3069283.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace troupe {

/// Extends the checksum `crc` of earlier bytes by `bytes`; 0 is the checksum of no bytes.
uint32_t crc32c(std::span<const std::byte> bytes, uint32_t crc = 0) noexcept;
uint32_t crc32c(std::string_view bytes, uint32_t crc = 0) noexcept;
/// Eight lower-case hexadecimal digits.
std::string crc32c_text(uint32_t crc);

}  // namespace troupe
