// Values as text that is equal only for equal bits.
#pragma once

#include "storage/encodings/crc32c.hpp"

#include <troupe/summary.hpp>

#include <bit>
#include <span>
#include <string>
#include <vector>

namespace troupe::test {

inline std::string bits(double x) { return std::to_string(std::bit_cast<uint64_t>(x)); }

inline uint32_t checksum(const summary_value& v) {
  uint32_t sum = crc32c(v.tag + '\0' + v.text + '\0' + bits(v.scalar));
  const auto add = [&sum](const auto& numbers) { sum = crc32c(std::as_bytes(std::span{numbers}), sum); };
  const auto& h = v.histogram;
  add(std::vector<double>{h.least, h.greatest, h.count, h.sum, h.sum_of_squares});
  add(h.limits);
  add(h.counts);
  return sum;
}

}  // namespace troupe::test
