// CRC-32C (Castagnoli), the checksum of all stored data. "123456789" gives 0xe3069283.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace troupe {

/// Extends the checksum `crc` of earlier bytes by `bytes`; 0 is the checksum of no bytes.
uint32_t crc32c(std::span<const std::byte> bytes, uint32_t crc = 0) noexcept;
uint32_t crc32c(std::string_view bytes, uint32_t crc = 0) noexcept;
/// Rotated right by 15 bits, plus 0xa282ead8, as LevelDB and TensorFlow store checksums: those of bytes that contain checksums would be weak.
constexpr uint32_t masked(uint32_t crc) noexcept { return std::rotr(crc, 15) + 0xa282ead8u; }
constexpr uint32_t unmasked(uint32_t stored) noexcept { return std::rotl(stored - 0xa282ead8u, 15); }
/// Eight lower-case hexadecimal digits.
std::string crc32c_text(uint32_t crc);
/// Each checksum has that spelling only: a flipped bit must never leave it readable and equal.
std::optional<uint32_t> parse_crc32c(std::string_view text) noexcept;

}  // namespace troupe
