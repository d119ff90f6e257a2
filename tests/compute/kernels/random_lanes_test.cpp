#include "compute/kernels/random_lanes.hpp"

#include <doctest/doctest.h>

namespace troupe {

TEST_CASE("Philox gives the published numbers") {
  // The known answers of Random123 for philox4x32 with 10 rounds.
  CHECK(random::philox({0, 0, 0, 0}, 0) == random::block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(random::philox({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, 0xffffffffffffffff)
        == random::block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(random::philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, 0x299f31d0a4093822)
        == random::block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

TEST_CASE("eight random numbers at once are those that are drawn one by one") {
  for (const random::block first : {random::block{0, 0, 0, 0},
                                    {5, 6, 7, 8},
                                    {UINT32_MAX - 7, UINT32_MAX, 0, 1},
                                    {0x243f6a88, 0x85a308d3, 0x13198a2e, 3}})
    for (const uint64_t key : {uint64_t{0}, uint64_t{0x299f31d0a4093822}, UINT64_MAX}) {
      const auto all = random::philox8(first, key);
      double unit[8];
      random::unit_doubles(all, unit);
      for (uint32_t i = 0; i < 8; ++i) {
        const auto one = random::philox({first[0] + i, first[1], first[2], first[3]}, key);
        CHECK(random::block{all.words[0][i], all.words[1][i], all.words[2][i], all.words[3][i]} == one);
        CHECK(unit[i] == random::unit_double(one[0], one[1]));
      }
    }
  random::eight_blocks ends{};
  for (uint32_t i = 0; i < 8; ++i) {
    ends.words[0][i] = i < 4 ? UINT32_MAX : 0;
    ends.words[1][i] = i % 2 ? UINT32_MAX : 0;
  }
  double unit[8];
  random::unit_doubles(ends, unit);
  for (int i = 0; i < 8; ++i)
    CHECK(unit[i] == random::unit_double(ends.words[0][i], ends.words[1][i]));
}

}  // namespace troupe
