// The hash function SHA-256 of FIPS 180-4.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace troupe {

/// The 256 bits of a hash, as a number whose most significant byte is the first.
using sha256_hash = std::array<uint8_t, 32>;

/// The hash of `bytes`, FIPS 180-4, section 6.2.
sha256_hash sha256(std::string_view bytes);
/// In lower case: "ba7816bf...".
std::string hex_text(const sha256_hash& hash);
/// The remainder of the hash divided by `n`, which is at least 1.
uint32_t remainder(const sha256_hash& hash, uint32_t n);

}  // namespace troupe
