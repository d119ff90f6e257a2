// Pausing and resuming a job, in simulation.
#include "support/ended_jobs.hpp"
#include "support/simulated_job.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using kind = job_event::kind;

/// Asks for a pause once `step` is reached, and waits until the job reports that it is paused.
void pause_at(simulated_job& job, int64_t step) {
  REQUIRE(job.crank_until([&] { return job.progress().step >= step; }));
  job.ask(request::pause);
  REQUIRE(job.crank_until([&] { return job.progress().paused; }));
}

}  // namespace

TEST_CASE(
    "a job that is paused for days, at several states, ends with the bits of one that was not, and no deadline ends "
    "it") {
  small_job_options whole{.max_steps = 30, .replicas = 2, .evaluates = true};
  simulated_job reference{prepare_small(whole), 1};
  const auto expected_state = state_at_end(reference, whole.files, std::chrono::hours{10'000});
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    auto o = whole;
    o.files = memory_disk::make();
    simulated_job job{prepare_small(o), seed};
    for (const int64_t step : {3, 11, 19}) {
      pause_at(job, step);
      const auto from = job.now();
      const auto stands = [&] { return job.progress().step; };
      for (int turn = 0; turn < 500; ++turn) {
        job.crank();
        job.pass(std::chrono::minutes{10});
      }
      const auto at = stands();
      CHECK(at < 30);
      for (int turn = 0; turn < 50; ++turn)
        job.crank();
      CHECK(stands() == at);
      CHECK(job.now() - from >= std::chrono::hours{72});
      job.ask(request::resume);
    }
    CHECK(same_state(state_at_end(job, o.files, std::chrono::hours{10'000}), expected_state));
    CHECK_FALSE(job.progress().paused);
  }
}

TEST_CASE("a paused job saves when it is asked to, and ends when it is stopped or aborted") {
  small_job_options o{.max_steps = 10'000, .save_steps = std::nullopt, .save_secs = 60};
  simulated_job job{prepare_small(o), 4};
  pause_at(job, 5);
  REQUIRE(job.crank_until([&] { return job.progress().committed_step == 0; }));
  SUBCASE("a save; saves by time wait") {
    job.pass(std::chrono::hours{5});
    for (int turn = 0; turn < 200; ++turn)
      job.crank();
    CHECK(steps_of(job.events(), kind::saved) == steps{0});
    job.ask(request::save);
    REQUIRE(job.crank_until([&] { return job.progress().committed_step > 0; }));
    CHECK(job.progress().paused);
    CHECK(job.progress().committed_step == job.progress().step);
    job.ask(request::stop);
  }
  SUBCASE("a stop") { job.ask(request::stop); }
  SUBCASE("an abort") { job.ask(request::abort); }
  const auto result = job.wait(std::chrono::minutes{5});
  REQUIRE(result.has_value());
  CHECK_FALSE(job.progress().paused);
  CHECK(job.left().empty());
}

TEST_CASE("a paused job that fails ends in time, though a node does not end") {
  small_job_options o{.max_steps = 10'000};
  simulated_job job{prepare_small(o), 4};
  pause_at(job, 5);
  job.hang("infeed/0");
  REQUIRE(job.kill("outfeed"));
  const auto result = job.wait(std::chrono::hours{1});
  REQUIRE(result.has_value());
  REQUIRE_FALSE(result->has_value());
  CHECK(result->error().category == errc::aborted);
  CHECK_FALSE(job.progress().paused);
}

TEST_CASE("a stop of a paused job grants no further step") {
  small_job_options o{.max_steps = 10'000};
  simulated_job job{prepare_small(o), 4};
  pause_at(job, 5);
  job.pass(std::chrono::minutes{1});
  for (int turn = 0; turn < 500; ++turn)
    job.crank();
  const auto stood = job.progress().step;
  job.ask(request::stop);
  const auto result = job.wait(std::chrono::hours{1});
  REQUIRE(result.has_value());
  REQUIRE(result->has_value());
  CHECK((*result)->global_step == stood);
}

TEST_CASE("a job that is paused while it recovers goes on with that once it is resumed") {
  small_job_options o{.max_steps = 20, .recovers = 10};
  simulated_job job{prepare_small(o), 4};
  REQUIRE(job.crank_until([&] { return job.progress().step >= 7; }));
  REQUIRE(job.kill("replica/0"));
  REQUIRE(job.crank_until([&] { return job.progress().now == job_progress::phase::recovering; }));
  job.ask(request::pause);
  REQUIRE(job.crank_until([&] { return job.progress().paused; }));
  job.pass(std::chrono::hours{1});
  for (int turn = 0; turn < 100; ++turn)
    job.crank();
  CHECK(job.progress().now == job_progress::phase::recovering);
  job.ask(request::resume);
  state_at_end(job, o.files, std::chrono::hours{10'000});
}

}  // namespace troupe::test
