// Keyed random numbers: Philox4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3").
//
// A number is a function of its key and counter, so it depends neither on order nor on threads. Keys come from a seed
// and a name; counters from step, shard and element.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace troupe::random {

using block = std::array<uint32_t, 4>;

constexpr block philox(block counter, uint64_t key) {
  auto k0 = static_cast<uint32_t>(key), k1 = static_cast<uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = uint64_t{0xD2511F53} * counter[0];
    const uint64_t p1 = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(p1 >> 32) ^ counter[1] ^ k0, static_cast<uint32_t>(p1),
               static_cast<uint32_t>(p0 >> 32) ^ counter[3] ^ k1, static_cast<uint32_t>(p0)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return counter;
}

/// FNV-1a of `domain` and `name`, mixed with the seed (the finaliser of SplitMix64).
constexpr uint64_t key(uint64_t seed, std::string_view domain, std::string_view name) {
  uint64_t h = 0xcbf29ce484222325;
  const auto eat = [&](std::string_view text) {
    for (char c : text)
      h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    h = (h ^ 0xff) * 0x100000001b3;
  };
  eat(domain);
  eat(name);
  uint64_t z = h + seed * 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/// In [0, 1), from 24 bits.
constexpr float unit_float(uint32_t bits) { return static_cast<float>(bits >> 8) * 0x1p-24f; }
/// In [0, 1), from 53 bits.
constexpr double unit_double(uint32_t high, uint32_t low) {
  return static_cast<double>(((uint64_t{high} << 32) | low) >> 11) * 0x1p-53;
}

}  // namespace troupe::random
