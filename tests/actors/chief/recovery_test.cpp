// The budget of a job's recoveries, as plain data without actors.
#include "actors/chief/recovery.hpp"

#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <fstream>

namespace troupe::test {

namespace {

using std::chrono::milliseconds;

failed_attempt died_at(int64_t step, std::string who = "replica/0") {
  return {.cause = {errc::aborted, who + " ended: it was killed", {}, who, step}, .by_chance = true, .step = step};
}

failed_attempt gave_up_at(int64_t step) {
  return {.cause = {errc::aborted, "the reader gave up", {}, "infeed/0", step}, .step = step};
}

failed_attempt broke_off_at(int64_t step) {
  return {.cause = {errc::unavailable, "the file server does not answer", {}, "infeed/0", step}, .step = step};
}

}  // namespace

TEST_CASE(
    "[SUP-19] delays are 1, 2, 4 s and so on, 60 s at most, and the eleventh attempt without a commit is not made") {
  recovery budget;
  std::vector<int64_t> delays;
  for (int64_t n = 0; n < 10; ++n) {
    const auto verdict = budget.decide(broke_off_at(n));
    REQUIRE(verdict.recovers);
    delays.push_back(verdict.delay.count());
  }
  CHECK(delays == std::vector<int64_t>{1000, 2000, 4000, 8000, 16000, 32000, 60000, 60000, 60000, 60000});
  const auto last = budget.decide(broke_off_at(10));
  CHECK_FALSE(last.recovers);
  CHECK(has(last.why_not, "10 attempts were made since the last commit (recovery_attempts_max)"));
  CHECK(budget.earlier().size() == 10);
  CHECK(has(budget.earlier().front(), "ended at step 0: unavailable: the file server does not answer"));
}

TEST_CASE("a commit beyond every failed step gives the whole budget back, and one below does not") {
  recovery budget{{.attempts_max = 2, .first_delay_secs = 3}};
  CHECK(budget.decide(died_at(7)).delay == milliseconds{3000});
  budget.committed(5);
  budget.committed(7);
  CHECK(budget.decide(died_at(12)).delay == milliseconds{6000});
  budget.committed(10);
  CHECK_FALSE(budget.decide(died_at(11)).recovers);
  budget.committed(15);
  CHECK(budget.earlier().empty());
  CHECK(budget.decide(died_at(20)).delay == milliseconds{3000});
}

TEST_CASE(
    "[SUP-19] an aborted that comes back at the same step with the same text is final after one recovery; the death of "
    "a node is not") {
  recovery budget;
  CHECK(budget.decide(gave_up_at(30)).recovers);
  const auto again = budget.decide(gave_up_at(30));
  CHECK_FALSE(again.recovers);
  CHECK(has(again.why_not, "the same error came back at step 30"));
  CHECK(budget.decide(gave_up_at(31)).recovers);
  CHECK(budget.decide(died_at(31)).recovers);
  CHECK(budget.decide(died_at(31)).recovers);
}

TEST_CASE(
    "what is unavailable may be so for the whole budget, at the same step each time: only attempts and delays decide") {
  recovery budget;
  milliseconds waited{0};
  for (int attempt = 0; attempt < 10; ++attempt) {
    const auto verdict = budget.decide(broke_off_at(30));
    REQUIRE(verdict.recovers);
    waited += verdict.delay;
  }
  CHECK(waited == milliseconds{303'000});
  CHECK_FALSE(budget.decide(broke_off_at(30)).recovers);
}

TEST_CASE("docs/failures.md says after which delays attempts begin, and how long an outage may be") {
  std::ifstream in{TROUPE_SOURCE_DIR "/docs/failures.md"};
  const std::string page{std::istreambuf_iterator<char>{in}, {}};
  recovery budget;
  std::string row;
  int64_t waited = 0;
  for (auto verdict = budget.decide(broke_off_at(30)); verdict.recovers; verdict = budget.decide(broke_off_at(30))) {
    waited += verdict.delay.count() / 1000;
    row += " " + std::to_string(waited) + " s |";
  }
  CHECK_MESSAGE(has(page, "| begins after |" + row + "\n"), row);
}

TEST_CASE("what a new attempt cannot cure, and what has nothing to begin from, ends the job with a note that says so") {
  recovery budget;
  auto failed = died_at(3);
  SUBCASE("an error of the user's") {
    failed.curable = false;
    CHECK(budget.decide(failed).why_not.empty());
  }
  SUBCASE("no checkpoints") {
    failed.checkpoints = false;
    CHECK(has(budget.decide(failed).why_not, "set model_dir"));
  }
  SUBCASE("a stop") {
    failed.stopping = true;
    CHECK(has(budget.decide(failed).why_not, "a stop was requested"));
  }
  SUBCASE("recovery is off") {
    budget = recovery{{.attempts_max = 0}};
    CHECK_FALSE(budget.enabled());
    CHECK(budget.decide(failed).why_not.empty());
  }
  CHECK_FALSE(budget.decide(failed).recovers);
}

TEST_CASE("without a limit a job recovers for ever, and no delay overflows") {
  recovery budget{{.attempts_max = {}, .first_delay_secs = 3e9, .delay_max_secs = 3e9}};
  for (int64_t n = 0; n < 2'000; ++n) {
    const auto verdict = budget.decide(died_at(n));
    REQUIRE(verdict.recovers);
    REQUIRE(verdict.delay == milliseconds{3'000'000'000'000});
  }
  CHECK(budget.earlier().size() == 16);
  recovery at_once{{.first_delay_secs = 0}};
  CHECK(at_once.decide(died_at(1)).delay == milliseconds{0});
}

}  // namespace troupe::test
