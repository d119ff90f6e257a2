#include "ensemble/rounds.hpp"

#include <troupe/search/options.hpp>

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

/// Of [ADA-22.10], with a limit of 300 steps.
constexpr round_rules brief{.delay_secs_per_worker = 0.2,
                            .max_worker_delay_secs = 1,
                            .worker_wait_secs = 1,
                            .worker_wait_timeout_secs = 180,
                            .max_steps = 300};

}  // namespace

TEST_CASE("[ADA-22.10 countdown] a countdown is positive until its time, then zero, and never below") {
  const countdown c{10s, 100s};
  CHECK(c.left(100s) == 10s);
  CHECK(c.left(104s) == 6s);
  CHECK(c.left(110s) == 0s);
  CHECK(c.left(1'000'000'000s) == 0s);
  CHECK(countdown{0s, 5s}.left(5s) == 0s);
  CHECK(countdown{-3s, 5s}.left(5s) == 0s);
}

TEST_CASE("workers begin 5, 10, 15 s after the chief, at most 60, and at once without a delay") {
  const auto rules = rules_of(search_options{}, {});
  CHECK(stagger_of(rules, 0) == 5s);
  CHECK(stagger_of(rules, 1) == 10s);
  CHECK(stagger_of(rules, 2) == 15s);
  CHECK(stagger_of(rules, 11) == 60s);
  CHECK(stagger_of(rules, 1000) == 60s);
  CHECK(stagger_of({.delay_secs_per_worker = 0}, 7) == 0s);
  CHECK(stagger_of({.max_worker_delay_secs = 0}, 7) == 0s);
}

TEST_CASE("a worker looks again and again until the iteration has changed, and begins that one with its delay") {
  const round_wait wait{brief, 2, 1, 50s};
  CHECK(wait.look(50s, {}) == round_step{look_later{51s}});
  CHECK(wait.look(51s, round_news{1, 200}) == round_step{look_later{52s}});
  CHECK(wait.look(52s, round_news{2, 200}) == round_step{begin_iteration{2, 52600ms}});
}

TEST_CASE("a worker that is late finds that the iteration has changed already, by more than one too") {
  CHECK(std::get<begin_iteration>(round_wait{brief, 0, 0, 900s}.look(900s, round_news{2, 250})).iteration == 2);
}

TEST_CASE("a worker leaves where the search has ended, also if the iteration has changed, or its time is over") {
  const round_wait wait{brief, 0, 0, 0s};
  for (const round_time now : {0s, 500s})
    for (const int64_t iteration : {0, 2}) {
      const auto step = wait.look(now, round_news{iteration, 300});
      REQUIRE(std::holds_alternative<leave_search>(step));
      CHECK_FALSE(std::get<leave_search>(step).chief_is_lost);
    }
}

TEST_CASE("without a limit of steps no global step is the end") {
  auto rules = brief;
  rules.max_steps.reset();
  CHECK(std::holds_alternative<look_later>(round_wait{rules, 0, 0, 0s}.look(1s, round_news{0, INT64_MAX})));
}

TEST_CASE("a worker waits no longer than its patience, whether there is a checkpoint or not") {
  for (const auto& newest : {std::optional<round_news>{}, std::optional{round_news{0, 100}}}) {
    const round_wait wait{brief, 0, 0, 0s};
    CHECK(wait.look(179500ms, newest) == round_step{look_later{180s}});
    const auto step = wait.look(180s, newest);
    REQUIRE(std::holds_alternative<leave_search>(step));
    CHECK(std::get<leave_search>(step).chief_is_lost);
    CHECK(std::get<leave_search>(step).why
          == "the chief has not begun iteration 1 within 180 s (worker_wait_timeout_secs): it was killed, stopped or "
             "has failed");
  }
}

}  // namespace troupe::test
