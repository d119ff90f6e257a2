// Jobs on real threads that recover or pause: they end with the bits of the undisturbed job in simulation.
#include "pipeline/launch/launcher.hpp"
#include "support/ended_jobs.hpp"
#include "support/mortal_engine.hpp"
#include "support/outage.hpp"
#include "support/simulated_job.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

small_job_options quick(int64_t replicas) {
  return {.max_steps = 200, .save_steps = 10, .replicas = replicas, .evaluates = true, .recovers = 20};
}

std::shared_ptr<prepared_job> without_delay(const small_job_options& o) {
  auto described = describe_small(o);
  described.basis.config.recovery.first_delay_secs = 0;
  auto job = prepare(std::move(described));
  if (!job)
    throw std::runtime_error(to_text(job.error()));
  return *job;
}

}  // namespace

TEST_CASE("on real threads, a job whose replicas die in steps ends in the state of one that was never disturbed") {
  for (const int64_t replicas : {1, 2}) {
    CAPTURE(replicas);
    auto o = quick(replicas);
    const auto expected_state = undisturbed(o);
    o.files = memory_disk::make();
    const auto prepared = without_delay(o);
    const auto fate = std::make_shared<doom>();
    fate->steps = {0, 7, 8, 33, 90, 91, 92, 150, 199};
    make_mortal(*prepared, fate);
    const auto job = local_launcher{}.train(prepared);
    const auto result = job->wait(soon);
    REQUIRE(result.has_value());
    REQUIRE_MESSAGE(result->has_value(), (*result ? "" : to_text(result->error())));
    CHECK((*result)->global_step == 200);
    CHECK(fate->steps.empty());
    CHECK(same_state(newest_checkpoint(o.files).content, expected_state));
  }
}

TEST_CASE(
    "on real threads, a job whose input is away for 3 s goes on by itself, with the settings that a job has by "
    "default") {
  small_job_options o{.max_steps = 30};
  const auto expected_state = undisturbed(o);
  o.files = memory_disk::make();
  o.recovers = run_config{}.recovery_attempts_max;
  const auto trouble = std::make_shared<outage>();
  trouble->from = 12;
  trouble->lasts = 3s;
  trouble->now = [] { return std::chrono::steady_clock::now().time_since_epoch(); };
  o.input = away(o.input, trouble);
  const auto job = local_launcher{}.train(prepare_small(o));
  const auto result = job->wait(soon);
  REQUIRE(result.has_value());
  REQUIRE_MESSAGE(result->has_value(), (*result ? "" : to_text(result->error())));
  CHECK(trouble->refused >= 2);
  CHECK(same_state(newest_checkpoint(o.files).content, expected_state));
}

TEST_CASE("on real threads, a job that is paused and resumed again and again ends in the state of one that was not") {
  auto o = quick(2);
  const auto expected_state = undisturbed(o);
  o.files = memory_disk::make();
  const auto job = local_launcher{}.train(prepare_small(o));
  for (int i = 0; i < 10 && !job->ended(); ++i) {
    job->pause();
    static_cast<void>(job->wait(5ms));
    job->resume();
    static_cast<void>(job->wait(3ms));
  }
  const auto result = job->wait(soon);
  REQUIRE(result.has_value());
  REQUIRE(result->has_value());
  CHECK(same_state(newest_checkpoint(o.files).content, expected_state));
}

}  // namespace troupe::test
