#include "actors/chief/traces.hpp"

#include "words/need.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

traces wanting(std::vector<trace_need> needs) {
  traces all;
  all.set_needs(std::move(needs));
  return all;
}

bool opens(traces& all, int64_t from, int64_t until) { return all.open(from, until).has_value(); }

}  // namespace

TEST_CASE("a trace opens before its first step is granted, and never behind that") {
  auto all = wanting({{.first = 10, .steps = 5}});
  CHECK_FALSE(opens(all, 0, 10));
  const auto opened = all.open(8, 11);
  REQUIRE(opened);
  CHECK(opened->first == 10);
  CHECK(opened->end == 15);
  CHECK_FALSE(opens(all, 11, 20));  // It is open.
  CHECK_FALSE(all.complete(14, std::nullopt));
  CHECK(all.complete(15, std::nullopt));
  const auto steps = all.close(17);
  CHECK(steps.first == 10);
  CHECK(steps.end == 15);
  CHECK_FALSE(all.complete(20, std::nullopt));  // It is collected once.
  all.forget();
  CHECK_FALSE(opens(all, 11, 1'000));
  auto late = wanting({{.first = 10, .steps = 5}}), none = wanting({});
  CHECK_FALSE(opens(late, 11, 20));
  CHECK_FALSE(opens(none, 0, 100));
}

TEST_CASE("a trace is repeated, and the horizon does not pass the beginning of the next one while one is under way") {
  auto all = wanting({{.first = 5, .steps = 2, .every = 5}});
  CHECK(all.limit(0) == 10);  // Of the trace behind the one that begins at 5.
  CHECK(opens(all, 0, 10));
  CHECK(all.limit(10) == 10);
  CHECK(all.close(10).end == 7);
  CHECK(all.limit(10) == 10);  // It is collected.
  all.forget();
  CHECK(all.limit(10) == 15);
  CHECK(opens(all, 10, 15));
  CHECK(all.close(15).first == 10);
  all.forget();
  auto one = wanting({{.first = 5, .steps = 2}});
  CHECK(one.limit(0) == INT64_MAX);
  CHECK(opens(one, 0, 100));
  CHECK(one.limit(100) == INT64_MAX);
  CHECK(wanting({}).limit(0) == INT64_MAX);
}

TEST_CASE("needs of any numbers are taken, and those that cannot be are left out") {
  auto far = wanting({{.first = 5, .steps = INT64_MAX, .every = INT64_MAX}});
  CHECK_FALSE(opens(far, 6, INT64_MAX));
  CHECK(opens(far, 0, 10));
  CHECK(far.close(8).end == 8);
  auto none = wanting({{.first = INT64_MIN, .steps = 1, .every = 1}, {.first = 3, .steps = 0}, {.first = -1}});
  CHECK_FALSE(opens(none, 0, INT64_MAX));
  CHECK(none.limit(0) == INT64_MAX);
}

TEST_CASE("of several needs the first one opens, and the longest of those that begin with it") {
  auto all = wanting({{.first = 30, .steps = 1}, {.first = 20, .steps = 3}, {.first = 20, .steps = 4}, {.first = 25}});
  CHECK(all.limit(0) == 25);
  CHECK(opens(all, 0, 25));
  const auto steps = all.close(40);
  CHECK(steps.first == 20);
  CHECK(steps.end == 24);
  CHECK(begins_at({.first = 20, .steps = 3}, 20));
  CHECK_FALSE(begins_at({.first = 20, .steps = 3}, 21));
  CHECK(begins_at({.first = 20, .steps = 3, .every = 7}, 34));
  CHECK_FALSE(begins_at({.first = 20, .steps = 3, .every = 7}, 13));
}

TEST_CASE("the end of a job completes a trace, which has the steps that were made") {
  auto all = wanting({{.first = 10, .steps = 50}});
  CHECK(opens(all, 0, 11));
  CHECK_FALSE(all.complete(20, 30));
  CHECK(all.complete(30, 30));
  CHECK(all.close(30).end == 30);
  all.forget();
  CHECK(opens(all, 0, 11));
  CHECK(all.complete(4, 4));
  const auto none = all.close(4);
  CHECK(none.first == none.end);
  all.forget();
  CHECK(opens(all, 0, 11));
  all.forget();
  CHECK_FALSE(all.recorded());
  CHECK_FALSE(all.complete(100, 100));
}

}  // namespace troupe::test
