// Jobs that are disturbed while they restore their state, in simulation.
#include "support/ended_jobs.hpp"
#include "support/simulated_job.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using kind = job_event::kind;

}  // namespace

TEST_CASE(
    "a replica may die again at any turn of its recovery, and the state is that of a job that was never disturbed") {
  for (const int64_t replicas : {1, 2}) {
    const small_job_options whole{.max_steps = 12, .replicas = replicas};
    const auto expected_state = undisturbed(whole);
    for (int turns = 0; turns < 60; ++turns) {
      CAPTURE(replicas);
      CAPTURE(turns);
      auto o = whole;
      o.files = memory_disk::make();
      o.recovers = 10;
      simulated_job job{prepare_small(o), static_cast<uint64_t>(turns + 1)};
      REQUIRE(job.crank_until([&] { return job.progress().step >= 8 || job.ended(); }));
      REQUIRE(job.kill("replica/0"));
      REQUIRE(job.crank_until([&] { return !steps_of(job.events(), kind::recovering).empty() || job.ended(); }));
      for (int turn = 0; turn < turns && !job.ended(); ++turn)
        job.crank();
      // Kills the owner of the store, or a replica that waits beside it. Before they are started again there is nothing
      // to kill.
      job.kill(turns % 2 == 0 || replicas == 1 ? "replica/0" : "replica/1");
      const auto result = job.wait(std::chrono::hours{2});
      REQUIRE(result.has_value());
      REQUIRE_MESSAGE(result->has_value(), (result->has_value() ? "" : to_text(result->error())));
      CHECK((*result)->global_step == 12);
      CHECK(same_state(newest_checkpoint(o.files).content, expected_state));
      const auto saved = steps_of(job.events(), kind::saved);
      CHECK(std::is_sorted(saved.begin(), saved.end()));
      CHECK(job.left().empty());
    }
  }
}

TEST_CASE("an owner that hangs while its store is restored ends the job with whom it waited for") {
  small_job_options o{.max_steps = 12, .recovers = 10};
  simulated_job job{prepare_small(o), 1};
  REQUIRE(job.crank_until([&] { return job.progress().step >= 8; }));
  REQUIRE(job.kill("infeed/0"));
  REQUIRE(job.crank_until([&] { return !steps_of(job.events(), kind::recovering).empty(); }));
  job.hang("replica/0");
  const auto result = job.wait(std::chrono::hours{2});
  REQUIRE(result.has_value());
  REQUIRE_FALSE(result->has_value());
  CHECK(result->error().category == errc::deadline_exceeded);
  CHECK(has(result->error().message, "the checkpoint writer to restore the newest checkpoint to the replicas"));
}

}  // namespace troupe::test
