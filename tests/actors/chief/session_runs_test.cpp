#include "actors/chief/session_runs.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using stage = session_runs::stage;

run_until steps_of(uint64_t number, int64_t count, fetch_kinds fetches = 0, bool repeats = true) {
  return {.number = number, .count = count, .fetches = fetches, .repeats = repeats};
}

/// A session that is open at state 10.
session_runs open_at_10() {
  session_runs s;
  s.open();
  CHECK(s.begin_attempt(10));
  CHECK(s.end(10) == std::pair<int64_t, int64_t>{0, 0});
  return s;
}

}  // namespace

TEST_CASE("a job that is no session has no gate, and one that opens holds its first state") {
  session_runs s;
  CHECK_FALSE(s.on());
  CHECK(s.limit() == INT64_MAX);
  s.open();
  s.asks(steps_of(1, 5));
  CHECK_MESSAGE(s.at() == stage::opening, "nobody may ask yet");
  s.begin_attempt(10);
  CHECK(s.limit() == 10);
}

TEST_CASE("the gate moves when a run begins, and stands where the run has ended") {
  auto s = open_at_10();
  s.asks(steps_of(1, 5));
  CHECK(s.limit() == 10);
  s.run();
  CHECK(s.limit() == 15);
  s.close(15);
  CHECK(s.limit() == 15);
  s.end(15);
  CHECK(s.limit() == 15);
  s.asks(steps_of(1, 5));
  CHECK_MESSAGE(s.at() == stage::idle, "a call that was received already");
  s.asks(steps_of(2, INT64_MAX));
  s.run();
  CHECK(s.limit() == INT64_MAX);
}

TEST_CASE("a run that is not repeated is ended by a recovery before it, unless it is the first one of its caller") {
  for (const bool first : {false, true}) {
    auto s = open_at_10();
    s.begin_attempt(8);
    auto call = steps_of(1, 5, 0, false);
    call.first = first;
    s.asks(call);
    CHECK(s.is_interrupted() == !first);
    if (!first)
      continue;
    s.run();
    s.begin_attempt(8);
    CHECK_MESSAGE(s.is_interrupted(), "a recovery during it");
  }
}

TEST_CASE("a run fetches what its caller wants and what hooks add, of the state that was marked") {
  auto s = open_at_10();
  s.asks(steps_of(1, 5, fetch_values));
  s.prepare(7);
  CHECK_FALSE(s.is_prepared());
  s.answered(6, fetch_observed);
  CHECK_FALSE(s.is_prepared());
  s.answered(7, fetch_observed);
  REQUIRE(s.is_prepared());
  s.run();
  CHECK(s.fetches() == (fetch_values | fetch_observed));
  CHECK(s.wants_mark());
  s.marked(15);
  CHECK_FALSE(s.wants_mark());
  CHECK(s.awaits_values());
  s.watched({.step = 14});
  CHECK(s.awaits_values());
  s.watched({.step = 15});
  CHECK_FALSE(s.awaits_values());
  SUBCASE("a state that will not be reached is not awaited") {
    s.begin_attempt(10);
    s.run();
    s.marked(15);
    s.cut_at(12);
    CHECK_FALSE(s.awaits_values());
  }
}

TEST_CASE("an attempt takes a run back if it begins where the run did or before, and says by how much") {
  for (const int64_t at : {8, 10}) {
    auto s = open_at_10();
    s.asks(steps_of(1, 5));
    s.run();
    CHECK_FALSE(s.begin_attempt(at));
    CHECK(s.at() == stage::asked);
    CHECK(s.until() == at + 5);
    CHECK(s.limit() == at);
    CHECK(s.end(at + 5) == std::pair<int64_t, int64_t>{10 - at, 1});
    CHECK(s.end(at + 5) == std::pair<int64_t, int64_t>{0, 0});
  }
  auto within = open_at_10();
  within.asks(steps_of(1, 5));
  within.run();
  CHECK_FALSE(within.begin_attempt(12));
  CHECK(within.at() == stage::running);
  CHECK(within.limit() == 15);
  CHECK(within.end(15) == std::pair<int64_t, int64_t>{0, 1});
}

TEST_CASE("an attempt between runs puts the gate back, a save is asked for again, and a renewal ends") {
  auto s = open_at_10();
  CHECK_FALSE(s.begin_attempt(6));
  CHECK(s.limit() == 6);
  s.asks({.number = 1, .what = run_until::save});
  s.save();
  CHECK_FALSE(s.begin_attempt(6));
  CHECK(s.at() == stage::asked);
  CHECK(s.end(6) == std::pair<int64_t, int64_t>{4, 2});
  s.asks({.number = 2, .what = run_until::renew});
  s.renew();
  CHECK(s.begin_attempt(5));
}

TEST_CASE("a session whose caller knows that the job ends has no gate, whatever attempt follows") {
  auto s = open_at_10();
  s.asks(steps_of(1, 5));
  s.run();
  s.end(15);
  s.release();
  CHECK(s.limit() == INT64_MAX);
  CHECK_FALSE(s.begin_attempt(12));
  CHECK(s.limit() == INT64_MAX);
}

TEST_CASE("a run that is not to be made again is interrupted by any attempt since the last end") {
  auto s = open_at_10();
  s.asks(steps_of(1, 5, 0, false));
  CHECK_FALSE(s.is_interrupted());
  s.run();
  CHECK_FALSE(s.begin_attempt(12));
  CHECK(s.is_interrupted());
  s.end(12);
  s.begin_attempt(11);
  s.asks(steps_of(2, 5, 0, false));
  CHECK(s.is_interrupted());
  s.end(11);
  s.asks(steps_of(3, 5, 0, false));
  CHECK_FALSE(s.is_interrupted());
}

TEST_CASE("the caller of a run or a save is asked once to begin the work beside it anew, and its answer is awaited") {
  auto s = open_at_10();
  CHECK_MESSAGE(!s.has_caller(), "between runs");
  s.asks(steps_of(1, 5));
  CHECK(s.has_caller());
  s.run();
  CHECK(s.has_caller());
  CHECK_FALSE(s.asks_caller());
  s.preempted();
  CHECK_FALSE(s.awaits_caller());
  CHECK(s.asks_caller());
  CHECK_FALSE(s.asks_caller());
  CHECK(s.awaits_caller());
  s.begun_anew(7);
  CHECK_MESSAGE(s.awaits_caller(), "of another call");
  s.begun_anew(1);
  CHECK_FALSE(s.awaits_caller());
  s.begin_attempt(10);
  CHECK(s.at() == stage::asked);
  s.run();
  s.close(15);
  CHECK_MESSAGE(!s.has_caller(), "the run has ended");
  s.end(15);
  s.asks({.number = 2, .what = run_until::renew});
  CHECK_MESSAGE(!s.has_caller(), "the caller knows");
  s.renew();
  CHECK_FALSE(s.has_caller());
}

}  // namespace troupe::test
