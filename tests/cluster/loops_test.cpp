#include "cluster/loops.hpp"

#include "support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using loops = std::vector<loop_steps>;

/// All loops from `first` on.
loops loops_between(int64_t first, int64_t length, int64_t last) {
  loops all;
  while (const auto next = loop_from(first, length, last)) {
    all.push_back(*next);
    first = next->end;
  }
  return all;
}

}  // namespace

TEST_CASE("[DF-1] a length of loops is a number of steps from 1 on, or seconds, minutes or hours") {
  for (const char* text :
       {"0", "-1", "5x", "2.5", "", "s", "0s", "1d", "1.5h", " 1", "+1", "9999999999999h", "99999999999999999999"}) {
    CAPTURE(text);
    const auto read = parse_loop_length(text);
    REQUIRE_FALSE(read);
    CHECK(read.error()
          == error{errc::invalid_argument,
                   "steps_per_loop must be a whole number of at least 1, or a time such as 90s, 2m or 1h, not '"
                       + std::string{text} + "'"});
  }
  CHECK(parse_loop_length("90s") == loop_length{std::chrono::seconds{90}});
  CHECK(parse_loop_length("2m") == loop_length{std::chrono::seconds{120}});
  CHECK(parse_loop_length("1h") == loop_length{std::chrono::seconds{3600}});
  CHECK(parse_loop_length("100") == loop_length{int64_t{100}});
}

TEST_CASE("ten steps are loops of 4, 4 and 2 steps") {
  CHECK(loops_between(0, 4, 10) == loops{{0, 4}, {4, 8}, {8, 10}});
  CHECK(loops_between(0, 4, 8) == loops{{0, 4}, {4, 8}});
  CHECK(loops_between(0, INT64_MAX, 8) == loops{{0, 8}});
}

TEST_CASE("a job that stands at its last step or beyond it makes no loop") {
  CHECK(loops_between(7, 4, 7).empty());
  CHECK_FALSE(loop_from(9, 4, 7));
  CHECK_FALSE(loop_at(7, 0, 4, 7));
}

TEST_CASE("a job that resumes within a loop goes on with that loop, so that boundaries stay where they were") {
  for (const auto& loop : loops_between(3, 4, 13))
    for (int64_t step = loop.first; step < loop.end; ++step)
      CHECK(loop_at(step, 3, 4, 13) == loop);
  CHECK(loop_at(5, 0, 4, 100) == loop_steps{4, 8});
}

}  // namespace troupe::test
