#include "actors/chief/loops.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace troupe::test {

namespace {

/// A loop of `steps` steps from `begins` on, each of which took `step_secs`.
loop_point made(int64_t begins, int64_t steps, double step_secs) {
  return {begins, begins, begins + steps, 0, 0, 0, step_secs * static_cast<double>(steps)};
}

using spans = std::vector<loop_span>;

}  // namespace

TEST_CASE("loops of a number of steps count from where the job first started, and need no word") {
  loops all{loop_length{int64_t{4}}};
  CHECK(all.begin(10, 3, {}) == loop_span{3, 4});
  CHECK(all.fix_below(1'000'000).empty());
  CHECK(all.at(11) == loop_span{3, 4});
  CHECK_FALSE(all.stored_at(11, 3));
}

TEST_CASE("a loop of a time has 1 step until one was made, then as many as make up that time") {
  loops all{loop_length{std::chrono::seconds{10}}};
  CHECK(all.begin(0, 0, {}) == loop_span{0, 1});
  CHECK(all.fix_below(3) == spans{{1, 1}, {2, 1}});
  CHECK(all.fix_below(3).empty());
  all.ended(made(0, 1, 0.5));
  CHECK(all.fix_below(4) == spans{{3, 20}});
  CHECK(all.fix_below(23).empty());  // A loop that begins where the horizon ends is not fixed before it has to be.
  CHECK(all.fix_below(24) == spans{{23, 20}});
  CHECK(all.at(22) == loop_span{3, 20});
}

TEST_CASE("a part of a loop says nothing about how long a loop takes") {
  loops all{loop_length{std::chrono::seconds{10}}};
  all.begin(0, 0, {});
  all.ended({.begins = 0, .first = 5, .end = 10, .seconds = 5});
  CHECK(all.fix_below(2) == spans{{1, 1}});
}

TEST_CASE("a job that resumes within a loop of a time makes the rest of it, and at its end begins the next one") {
  loops all{loop_length{std::chrono::seconds{10}}};
  all.begin(0, 0, {});
  all.ended(made(0, 1, 0.5));
  all.fix_below(2);
  REQUIRE(all.stored_at(15, 0) == loop_span{1, 20});
  loops next{loop_length{std::chrono::seconds{10}}};
  CHECK(next.begin(15, 0, loop_span{1, 20}) == loop_span{1, 20});
  CHECK(next.fix_below(22) == spans{{21, 1}});
  CHECK(next.begin(21, 0, loop_span{1, 20}) == loop_span{21, 1});
}

TEST_CASE("a number of steps in place of a time counts from the loop that the books name") {
  loops all{loop_length{int64_t{4}}};
  CHECK(all.begin(15, 0, loop_span{1, 20}) == loop_span{1, 4});
  CHECK(all.stored_at(15, 0) == loop_span{1, 4});
}

TEST_CASE("a time in place of a number of steps goes on with the loop of its state, and fixes none that is past") {
  loops all{loop_length{std::chrono::seconds{10}}};
  CHECK(all.begin(15, 0, loop_span{1, 4}) == loop_span{13, 4});
  CHECK(all.fix_below(18) == spans{{17, 1}});
}

TEST_CASE("loops that begin after the state are of no job, and count for nothing") {
  loops steps{loop_length{int64_t{4}}}, time{loop_length{std::chrono::seconds{10}}};
  CHECK(steps.begin(15, 3, loop_span{16, 4}) == loop_span{3, 4});
  CHECK(time.begin(15, 3, loop_span{INT64_MAX, INT64_MAX}) == loop_span{15, 1});
}

TEST_CASE("at most 64 loops of a time are fixed beyond the state that was reached, however far the horizon could go") {
  loops all{loop_length{std::chrono::seconds{10}}};
  all.begin(0, 0, {});
  CHECK(all.limit(0) == 65);
  CHECK(all.fix_below(all.limit(0)).size() == 64);
  all.ended(made(0, 1, 0.5));
  CHECK(all.limit(0) == 65);
  CHECK(all.fix_below(all.limit(0)).empty());
  CHECK(all.limit(30) == 65 + 30 * 20);
  CHECK(all.fix_below(all.limit(30)).size() == 30);
  CHECK(all.limit(64) == 665 + 34 * 20);
  CHECK(loops{loop_length{int64_t{1}}}.limit(0) == INT64_MAX);
  loops endless{loop_length{std::chrono::seconds{10}}};
  endless.begin(5, 0, loop_span{4, INT64_MAX - 4});
  CHECK(endless.limit(5) == INT64_MAX);
  CHECK(endless.fix_below(INT64_MAX).empty());
}

TEST_CASE("the third loop to end after a state ends two loops after that of the state") {
  loops all{loop_length{int64_t{4}}};
  all.begin(10, 3, {});
  CHECK(all.end_after(10, 1) == 11);
  CHECK(all.end_after(11, 1) == 15);
  CHECK(all.end_after(10, 3) == 19);
  CHECK(all.end_after(10, INT64_MAX) == INT64_MAX);
}

TEST_CASE("[DF-34] 32 examples a step at 10 steps a second are 320 examples a second") {
  const auto f = facts_of(
      {.begins = 10, .first = 10, .end = 20, .last = 2, .mean = 3, .first_replica = 4, .seconds = 1}, 32, false);
  CHECK(f == loop_facts{10, 10, 20, 2, 3, 4, 320, {}, {}});
  CHECK(facts_of({.end = 1}, 32, false).examples_per_second == 0);
}

TEST_CASE("a loss is shown as a perplexity, and in bits") {
  const auto f = facts_of({.end = 1, .last = std::log(8.0)}, 1, true);
  CHECK(*f.ppl == doctest::Approx(8));
  CHECK(*f.bpc == doctest::Approx(3));
}

}  // namespace troupe::test
