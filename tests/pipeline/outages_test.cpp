// Jobs whose input cannot be read for some time, with the default settings for recovery.
#include "support/ended_jobs.hpp"
#include "support/outage.hpp"
#include "support/simulated_job.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using kind = job_event::kind;
using namespace std::chrono_literals;

/// A job of 30 steps with the default recovery, whose input cannot be read from read number `from` on, for the time
/// `lasts`.
struct away_job {
  small_job_options options{.max_steps = 30, .recovers = run_config{}.recovery_attempts_max};
  std::shared_ptr<outage> trouble = std::make_shared<outage>();
  std::unique_ptr<simulated_job> job;

  away_job(std::chrono::nanoseconds lasts, int64_t from, int64_t replicas, uint64_t seed) {
    options.replicas = replicas;
    trouble->from = from;
    trouble->lasts = lasts;
    trouble->now = [this] { return job ? job->now() : 0ns; };
    options.input = away(options.input, trouble);
    auto described = describe_small(options);
    CHECK(described.basis.config.recovery == recovery_options{});
    auto prepared = prepare(std::move(described));
    REQUIRE(prepared);
    job = std::make_unique<simulated_job>(*prepared, seed);
  }
};

}  // namespace

TEST_CASE(
    "outages of 0.5, 1.5, 3, 8 and 60 s cost attempts and time, and no bits, with the defaults and wherever they "
    "begin") {
  for (const int64_t replicas : {1, 2}) {
    const auto expected_state = undisturbed({.max_steps = 30, .replicas = replicas});
    for (const auto lasts : {500ms, 1'500ms, 3'000ms, 8'000ms, 60'000ms})
      for (uint64_t seed = 1; seed <= 6; ++seed) {
        CAPTURE(lasts.count());
        CAPTURE(replicas);
        CAPTURE(seed);
        away_job away{lasts, static_cast<int64_t>(seed) * 4, replicas, seed};
        const auto result = run_to_end(*away.job);
        CHECK(result.global_step == 30);
        CHECK(same_state(newest_checkpoint(away.options.files).content, expected_state));
        const auto attempts = steps_of(away.job->events(), kind::recovered).size();
        CHECK(attempts >= 1);
        CHECK(attempts <= 6);  // The sixth begins after 63 s (docs/failures.md).
        CHECK(away.trouble->refused >= 1);
        CHECK(away.job->now() >= lasts);
        CHECK(away.job->now() < 2 * lasts + 5s);
      }
  }
}

TEST_CASE("an outage that outlasts the budget ends the job with its error, after all attempts and their delays") {
  away_job away{1h, 12, 1, 1};
  const auto e = failure_of(*away.job);
  CHECK(e.category == errc::unavailable);
  CHECK(e.source == "infeed/0");
  CHECK(std::any_of(e.notes.begin(), e.notes.end(),
                    [](const auto& note) { return has(note, "10 attempts were made since the last commit"); }));
  CHECK(steps_of(away.job->events(), kind::recovered).size() == 10);
  CHECK(away.job->now() >= 303s);
  CHECK(away.job->now() < 310s);
}

}  // namespace troupe::test
