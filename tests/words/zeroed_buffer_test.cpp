#include "words/zeroed_buffer.hpp"

#include <troupe/tensor.hpp>

#include <doctest/doctest.h>

#include <algorithm>

namespace troupe {

TEST_CASE("a zeroed buffer is zeros where memory that was written lay before, small or of whole pages") {
  for (const int64_t bytes : {int64_t{1}, int64_t{64}, int64_t{5000}, int64_t{128} << 10, (int64_t{1} << 20) + 7})
    for (int round = 0; round < 4; ++round) {
      CAPTURE(bytes);
      const auto buffer = allocate_zeroed_buffer(bytes);
      REQUIRE(buffer);
      CHECK(reinterpret_cast<uintptr_t>(buffer.get()) % 64 == 0);
      CHECK(std::all_of(buffer.get(), buffer.get() + bytes, [](std::byte b) { return b == std::byte{0}; }));
      std::fill_n(buffer.get(), bytes, std::byte{0xff});
    }
  CHECK(allocate_zeroed_buffer(0));
}

TEST_CASE("a zeroed buffer that cannot be is null") {
  CHECK_FALSE(allocate_zeroed_buffer(-1));
  CHECK_FALSE(allocate_zeroed_buffer(INT64_MAX));
}

}  // namespace troupe
