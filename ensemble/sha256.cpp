#include "ensemble/sha256.hpp"

#include "words/expect.hpp"

#include <bit>

namespace troupe {

namespace {

using words = std::array<uint32_t, 8>;
constexpr size_t block_bytes = 64;

// FIPS 180-4, section 5.3.3: the first 32 bits of the fractional parts of the square roots of the first 8 primes.
constexpr words initial{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};

// Section 4.2.2: the first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<uint32_t, 64> round_constants{
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t big_endian_at(const uint8_t* bytes) {
  return static_cast<uint32_t>(bytes[0]) << 24 | static_cast<uint32_t>(bytes[1]) << 16
         | static_cast<uint32_t>(bytes[2]) << 8 | bytes[3];
}

/// The message schedule of a block, section 6.2.2, step 1.
std::array<uint32_t, 64> schedule_of(const uint8_t* block) {
  std::array<uint32_t, 64> w;
  for (size_t t = 0; t < 16; ++t)
    w[t] = big_endian_at(block + 4 * t);
  for (size_t t = 16; t < 64; ++t) {
    const uint32_t s0 = std::rotr(w[t - 15], 7) ^ std::rotr(w[t - 15], 18) ^ (w[t - 15] >> 3);
    const uint32_t s1 = std::rotr(w[t - 2], 17) ^ std::rotr(w[t - 2], 19) ^ (w[t - 2] >> 10);
    w[t] = s1 + w[t - 7] + s0 + w[t - 16];
  }
  return w;
}

/// Section 6.2.2, steps 2 to 4.
void add_block(words& hash, const uint8_t* block) {
  const auto w = schedule_of(block);
  auto [a, b, c, d, e, f, g, h] = hash;
  for (size_t t = 0; t < 64; ++t) {
    const uint32_t sum1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25), choice = (e & f) ^ (~e & g);
    const uint32_t sum0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22), majority = (a & b) ^ (a & c) ^ (b & c);
    const uint32_t t1 = h + sum1 + choice + round_constants[t] + w[t], t2 = sum0 + majority;
    h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
  }
  const words added{a, b, c, d, e, f, g, h};
  for (size_t i = 0; i < hash.size(); ++i)
    hash[i] += added[i];
}

/// The message with a one bit, zeros and its length in bits, section 5.1.1.
std::string padded(std::string_view bytes) {
  std::string message{bytes};
  message += '\x80';
  while (message.size() % block_bytes != block_bytes - 8)
    message += '\0';
  const uint64_t bits = uint64_t{8} * bytes.size();
  for (int shift = 56; shift >= 0; shift -= 8)
    message += static_cast<char>(bits >> shift & 0xff);
  return message;
}

}  // namespace

sha256_hash sha256(std::string_view bytes) {
  const std::string message = padded(bytes);
  words hash = initial;
  for (size_t at = 0; at < message.size(); at += block_bytes)
    add_block(hash, reinterpret_cast<const uint8_t*>(message.data()) + at);
  sha256_hash result;
  for (size_t i = 0; i < result.size(); ++i)
    result[i] = static_cast<uint8_t>(hash[i / 4] >> (24 - 8 * (i % 4)));
  return result;
}

std::string hex_text(const sha256_hash& hash) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text;
  for (const uint8_t byte : hash)
    text.append({digits[byte >> 4], digits[byte & 15]});
  return text;
}

uint32_t remainder(const sha256_hash& hash, uint32_t n) {
  expect(n > 0, "a remainder is asked for of a division by 0");
  uint64_t rest = 0;
  for (const uint8_t byte : hash)
    rest = (rest << 8 | byte) % n;
  return static_cast<uint32_t>(rest);
}

}  // namespace troupe
