// What the actors of a job say of their time.
#include "pipeline/launch/launcher.hpp"
#include "support/ended_jobs.hpp"
#include "support/simulated_job.hpp"
#include "support/threads.hpp"
#include "tests/support/has.hpp"

#include <troupe/job_report.hpp>

#include <doctest/doctest.h>

#include <set>

namespace troupe::test {

namespace {

const actor_report& of(const job_report& all, const std::string& name) {
  const auto found = std::find_if(all.actors.begin(), all.actors.end(),
                                  [&name](const actor_report& a) { return a.name == name; });
  REQUIRE_MESSAGE(found != all.actors.end(), name);
  return *found;
}

}  // namespace

TEST_CASE("every actor of a job on threads reports, and its times add up to its life") {
  small_job_options o{.max_steps = int64_t{1} << 40, .replicas = 2, .evaluates = true};
  const auto job = local_launcher{}.train(prepare_small(o));
  expected<job_report> first = fail(errc::state, "none");
  do {
    first = job->report(soon);
    REQUIRE(first.has_value());
  } while (first->step < 50);
  const auto second = job->report(soon);
  REQUIRE(second.has_value());
  std::set<std::string> names;
  for (const auto& a : second->actors) {
    CAPTURE(a.name);
    CHECK(names.insert(a.name).second);
    if (!a.answered)
      continue;
    CHECK(a.seconds() > 0);
    CHECK(a.seconds() <= second->seconds + 1);
    CHECK(a.messages > 0);
  }
  for (const auto* name : {"chief", "infeed/0", "replica/0", "replica/1", "outfeed", "checkpoint_writer"})
    CHECK_MESSAGE(names.contains(name), name);
  const auto part = since(*second, *first);
  for (const auto& a : part.actors)
    CHECK(a.seconds() >= 0);
  CHECK(of(*second, "replica/0").bytes > 0);
  CHECK_FALSE(bound_by(*second).empty());
  job->abort();
  CHECK(job->wait(soon).has_value());
  const auto late = job->report(soon);
  REQUIRE_FALSE(late.has_value());
  CHECK(late.error().category == errc::state);
}

TEST_CASE("the nodes of an evaluation report through their evaluator, and do not count for what bounds the job") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    simulated_job job{prepare_small({.max_steps = 40, .evaluates = true}), seed};
    REQUIRE(job.crank_until([&] { return !job.progress().evaluations.empty(); }));
    const auto report = job.report(std::chrono::minutes{1});
    REQUIRE(report.has_value());
    std::map<std::string, std::string> driven;
    for (const auto& a : report->actors)
      if (!a.driver.empty()) {
        CHECK(a.answered);
        CHECK(a.driver == "evaluator");
        CHECK(a.messages > 0);
        driven[a.name] = a.role;
      }
    CHECK(driven
          == std::map<std::string, std::string>{
              {"evaluator/infeed/0", "infeed"}, {"evaluator/outfeed", "outfeed"}, {"evaluator/replica/0", "replica"}});
    auto without = *report;
    std::erase_if(without.actors, [](const actor_report& a) { return !a.driver.empty(); });
    CHECK(bound_by(without) == bound_by(*report));
    const auto again = job.report(std::chrono::minutes{1});
    REQUIRE(again.has_value());
    CHECK(again->actors.size() == report->actors.size());
  }
}

TEST_CASE("reports change no bit of a job, and no order of its messages but their own") {
  small_job_options o{.max_steps = 40, .replicas = 2, .evaluates = true};
  const auto expected_state = undisturbed(o);
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    auto again = o;
    again.files = memory_disk::make();
    simulated_job job{prepare_small(again), seed};
    for (int64_t step = 0; step < 40; step += 4) {
      REQUIRE(job.crank_until([&] { return job.progress().step >= step; }));
      job.ask(request::report);
    }
    CHECK(same_state(state_at_end(job, again.files, std::chrono::hours{10}), expected_state));
    CHECK(job.left().empty());
  }
}

TEST_CASE("a job that waits for its data says so, and one that is paused does not") {
  small_job_options o{.max_steps = 1'000};
  simulated_job job{prepare_small(o), 3};
  REQUIRE(job.crank_until([&] { return job.progress().step >= 5; }));
  job.ask(request::pause);
  REQUIRE(job.crank_until([&] { return job.progress().paused; }));
  for (int turn = 0; turn < 200; ++turn)
    job.crank();
  job.pass(std::chrono::minutes{10});
  const auto report = job.report(std::chrono::minutes{1});
  REQUIRE(report.has_value());
  CHECK(of(*report, "replica/0").waiting_seconds.horizon > 590);
  CHECK(test::has(bound_by(*report), "a grant of steps 100 %"));
}

}  // namespace troupe::test
