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

/// The checksum of earlier bytes, whose checksum is `crc`, followed by `bytes`. 0 is the checksum of no bytes.
uint32_t crc32c(std::span<const std::byte> bytes, uint32_t crc = 0) noexcept;
uint32_t crc32c(std::string_view bytes, uint32_t crc = 0) noexcept;
/// LevelDB and TensorFlow store a checksum rotated right by 15 bits, plus 0xa282ead8, since a CRC over bytes that
/// contain CRCs is weak.
constexpr uint32_t masked(uint32_t crc) noexcept { return std::rotr(crc, 15) + 0xa282ead8u; }
constexpr uint32_t unmasked(uint32_t stored) noexcept { return std::rotl(stored - 0xa282ead8u, 15); }
/// The checksum as eight lower-case hexadecimal digits.
std::string crc32c_text(uint32_t crc);
/// Accepts only the text that `crc32c_text` makes: a flipped bit must never give another spelling of the same checksum.
std::optional<uint32_t> parse_crc32c(std::string_view text) noexcept;

}  // namespace troupe
