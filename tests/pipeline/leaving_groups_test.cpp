// Jobs of several groups of which one fails and leaves: the others go on, also in a job that is resumed.
#include "support/ended_jobs.hpp"
#include "support/plans.hpp"
#include "support/wrapped_engine.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

constexpr size_t program_a = 1;
constexpr int64_t never = -1;

/// A job whose groups a and b leave if they fail. The numbers of b's last replica are not finite at step `at`.
std::shared_ptr<prepared_job> with_leaving(const small_job_options& o, int64_t at, const hand_written& w) {
  auto plan = w;
  for (auto& g : plan.plan.groups)
    if (g.id != 0_group)
      g.leaves = leaves_on::numbers_and_death;
  auto job = plan.prepared(describe_small(o));
  auto& last = job->programs.back().engines.back();
  last = std::make_shared<broken_engine>(last, at);
  return job;
}
std::shared_ptr<prepared_job> breaking(const small_job_options& o, int64_t at) {
  return with_leaving(o, at, two_candidates(o.input, static_cast<int32_t>(o.replicas)));
}

checkpoint_content checkpoint_of(const small_job_options& o, int64_t step) {
  auto store = checkpoint_store::open(o.files, "/run", {.read_only = true});
  REQUIRE(store);
  auto found = (*store)->restore_step(step);
  REQUIRE_MESSAGE(found, (found ? "" : to_text(found.error())));
  return found->content;
}

/// The state at the end of a job that b leaves at step 12, on a disk of its own.
checkpoint_content left_at_12(small_job_options o) {
  o.files = memory_disk::make();
  simulated_job job{breaking(o, 12), 77};
  run_to_end(job);
  return newest_checkpoint(o.files).content;
}

}  // namespace

TEST_CASE(
    "a candidate whose loss is not a number leaves; the job ends well, and the other candidate has the bits that it "
    "has alone") {
  small_job_options alone{.max_steps = 20, .source = candidate("a", 5)};
  simulated_job single{prepare_small(alone), 4};
  run_to_end(single);
  const auto wanted = variables(newest_checkpoint(alone.files).content, "a/");
  std::optional<checkpoint_content> first;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    CAPTURE(seed);
    small_job_options o{.max_steps = 20};
    simulated_job job{breaking(o, 12), seed};
    const auto result = run_to_end(job);
    CHECK(result.global_step == 20);
    CHECK(result.remark.starts_with("group 'b' left at step 12: "));
    CHECK(result.metrics.contains("a/loss"));
    CHECK_FALSE(result.metrics.contains("b/loss"));
    CHECK(steps_of(job.events(), job_event::kind::saved) == steps{0, 5, 10, 15, 20});
    CHECK(steps_of(job.events(), job_event::kind::warning) == steps{12});
    const auto end = newest_checkpoint(o.files).content;
    CHECK(variables(end, "a/") == wanted);
    CHECK(variables(end, "b/").empty());
    CHECK(end.properties.contains("left/b"));
    CHECK(variables(checkpoint_of(o, 10), "b/").size() == 8);
    CHECK_FALSE(checkpoint_of(o, 10).properties.contains("left/b"));
    if (!first)
      first = end;
    CHECK_MESSAGE(same_state(*first, end), "the mixture reads zeros from the same step on, in any order of turns");
  }
}

TEST_CASE("a job of several groups that is to stop before a step that is not finite is refused") {
  auto description = describe_small({.max_steps = 20});
  description.basis.config.on_not_finite = not_finite::stop;
  const auto w = two_candidates(small_job_options{}.input, 1);
  const auto prepared = prepare(std::move(description), planned_job{w.plan, w.resources, {}});
  REQUIRE_FALSE(prepared);
  CHECK(prepared.error().category == errc::invalid_argument);
  CHECK(has(prepared.error().message, "on_not_finite = stop"));
}

TEST_CASE(
    "a job of which a group has left is resumed to the state of one that was not interrupted, from before and from "
    "after") {
  const auto wanted = left_at_12({.max_steps = 20});
  for (const int64_t crash_at : {7, 17})
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      CAPTURE(crash_at);
      CAPTURE(seed);
      small_job_options o{.max_steps = 20};
      {
        simulated_job job{breaking(o, 12), seed};
        REQUIRE(job.crank_until([&] {
          const auto saved = steps_of(job.events(), job_event::kind::saved);
          return !saved.empty() && saved.back() >= crash_at / 5 * 5;
        }));
      }
      // A job that resumes after step 12 computes nothing of b, so b's engine cannot break.
      simulated_job again{breaking(o, crash_at < 12 ? 12 : never), seed + 10};
      CHECK(run_to_end(again).remark.starts_with("group 'b' left at step 12: "));
      CHECK(same_state(newest_checkpoint(o.files).content, wanted));
    }
}

TEST_CASE("a job of which a group has left recovers from the death of another's replica to the same state") {
  const auto wanted = left_at_12({.max_steps = 40});
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    small_job_options o{.max_steps = 40, .recovers = 3};
    simulated_job job{breaking(o, 12), seed};
    REQUIRE(job.crank_until([&] { return job.progress().step >= 13 + static_cast<int64_t>(seed); }));
    REQUIRE(job.kill("a/replica/0"));
    run_to_end(job);
    CHECK(steps_of(job.events(), job_event::kind::recovered).size() == 1);
    CHECK(same_state(newest_checkpoint(o.files).content, wanted));
  }
}

TEST_CASE(
    "a group of several replicas leaves as one, and each of its readers' replicas is fed zeros from the same step on") {
  std::optional<checkpoint_content> first;
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    small_job_options o{.max_steps = 20, .replicas = 2};
    simulated_job job{breaking(o, 12), seed};
    run_to_end(job);
    const auto end = newest_checkpoint(o.files).content;
    CHECK(variables(end, "b/").empty());
    if (!first)
      first = end;
    CHECK(same_state(*first, end));
  }
}

TEST_CASE("a group without readers leaves, and the data end for the others") {
  for (uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    small_job_options o{.max_steps = 100, .input = small_dataset().shuffle().batch(4)};
    hand_written w;
    const auto a = w.group("a"), b = w.group("b");
    const auto runs_a = w.program(candidate("a", 5), a), runs_b = w.program(candidate("b", 7), b);
    const auto feed = w.infeed("feed", w.data(o.input));
    w.edge(feed, "data", w.replica("a/replica/0", runs_a, 0, {"data"}), "data");
    w.edge(feed, "data", w.replica("b/replica/0", runs_b, 0, {"data"}), "data");
    w.finish();
    simulated_job job{with_leaving(o, 3, w), seed};
    const auto result = run_to_end(job);
    CHECK(result.global_step == 12);
    CHECK(has(result.remark, "; group 'b' left at step 3: "));
    const auto end = newest_checkpoint(o.files).content;
    CHECK(end.id.step == 12);
    CHECK(variables(end, "b/").empty());
  }
}

TEST_CASE("a group leaves in its first step, and both candidates may leave at one step") {
  small_job_options o{.max_steps = 20};
  auto job = breaking(o, 0);
  auto& a = job->programs[program_a].engines.front();
  a = std::make_shared<broken_engine>(a, 0);
  simulated_job running{job, 5};
  const auto result = run_to_end(running);
  CHECK(has(result.remark, "group 'a' left at step 0: "));
  CHECK(has(result.remark, "group 'b' left at step 0: "));
  const auto end = newest_checkpoint(o.files).content;
  CHECK(variables(end, "a/").empty());
  CHECK(variables(end, "b/").empty());
  CHECK_FALSE(variables(end, "mixture/").empty());
}

TEST_CASE("a group whose replica dies leaves where recovery does not cure it: a new attempt begins without it") {
  for (const int64_t replicas : {1, 2})
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      CAPTURE(replicas);
      CAPTURE(seed);
      small_job_options o{.max_steps = 20, .replicas = replicas};
      simulated_job job{breaking(o, never), seed};
      REQUIRE(job.crank_until([&] { return job.progress().step >= 6 + static_cast<int64_t>(seed); }));
      REQUIRE(job.kill("b/replica/0"));
      const auto result = run_to_end(job);
      CHECK(result.global_step == 20);
      CHECK(has(result.remark, "group 'b' left at step "));
      const auto end = newest_checkpoint(o.files).content;
      CHECK(variables(end, "b/").empty());
      CHECK(end.properties.contains("left/b"));
      small_job_options whole{.max_steps = 20, .replicas = replicas};
      simulated_job unbroken{breaking(whole, never), seed};
      run_to_end(unbroken);
      CHECK(variables(end, "a/") == variables(newest_checkpoint(whole.files).content, "a/"));
    }
}

TEST_CASE("a death that recovery cures removes no group, and one of the first group's replicas ends the job") {
  small_job_options o{.max_steps = 20, .recovers = 1};
  simulated_job job{breaking(o, never), 2};
  REQUIRE(job.crank_until([&] { return job.progress().step >= 7; }));
  REQUIRE(job.kill("b/replica/0"));
  CHECK(run_to_end(job).remark.empty());
  small_job_options whole{.max_steps = 20};
  simulated_job unbroken{breaking(whole, never), 3};
  run_to_end(unbroken);
  CHECK(same_state(newest_checkpoint(o.files).content, newest_checkpoint(whole.files).content));

  small_job_options off{.max_steps = 20};
  simulated_job failing{breaking(off, never), 4};
  REQUIRE(failing.crank_until([&] { return failing.progress().step >= 7; }));
  REQUIRE(failing.kill("mixture/replica/0"));
  const auto result = failing.wait(std::chrono::hours{2});
  REQUIRE(result.has_value());
  CHECK_FALSE(result->has_value());
}

TEST_CASE(
    "a candidate that retires is read further on, its state stays in checkpoints as it is, and a resumed job has the "
    "same bits") {
  for (const int64_t replicas : {1, 2}) {
    CAPTURE(replicas);
    const auto retiring = [&](const small_job_options& o) {
      auto w = two_candidates(o.input, static_cast<int32_t>(replicas));
      w.plan.groups[1].retires_at = 10;
      return w.prepared(describe_small(o));
    };
    std::optional<checkpoint_content> first;
    for (uint64_t seed = 1; seed <= 3; ++seed) {
      CAPTURE(seed);
      small_job_options o{.max_steps = 20, .replicas = replicas};
      {
        simulated_job job{retiring(o), seed};
        if (seed == 3)
          REQUIRE(job.crank_until([&] { return job.progress().step >= 16; }));
        else
          CHECK(run_to_end(job).metrics.contains("a/loss"));
      }
      if (seed == 3) {
        simulated_job again{retiring(o), seed + 10};
        run_to_end(again);
      }
      const auto end = newest_checkpoint(o.files).content;
      CHECK(variables(end, "a/") == variables(checkpoint_of(o, 10), "a/"));
      CHECK_FALSE(variables(end, "b/") == variables(checkpoint_of(o, 10), "b/"));
      CHECK_FALSE(variables(checkpoint_of(o, 10), "a/") == variables(checkpoint_of(o, 5), "a/"));
      if (!first)
        first = end;
      CHECK(same_state(*first, end));
    }
  }
}

TEST_CASE("hooks see the losses of all groups, and none of one that has left") {
  struct watcher final : hook {
    needs begin(int64_t) override { return {.steps = {{.first = 1, .every = 1}}}; }
    void on_step(const step_facts& f, job_control&) override { seen.emplace(f.step, f.values); }
    std::map<int64_t, std::map<std::string, tensor>> seen;
  };
  const auto watching = std::make_shared<watcher>();
  small_job_options o{.max_steps = 20, .hooks = {watching}};
  auto w = two_candidates(o.input);
  w.plan.nodes.push_back(plan_node{.id = 99_node, .what = role::callbacks, .name = "callbacks", .driver = 0_node});
  simulated_job job{with_leaving(o, 12, w), 1};
  run_to_end(job);
  REQUIRE(watching->seen.size() == 20);
  for (const auto& [step, values] : watching->seen) {
    CAPTURE(step);
    REQUIRE(values.size() == 3);
    CHECK(values.at("mixture/loss").byte_size() == 4);
    CHECK(values.at("a/loss").byte_size() == 4);
    CHECK((values.at("b/loss") == tensor{}) == (step > 12));
  }
}

TEST_CASE("on real threads a candidate leaves, and the others end in the state of the simulation") {
  small_job_options o{.max_steps = 200, .save_steps = 50};
  small_job_options simulated = o;
  simulated.files = memory_disk::make();
  simulated_job beside{breaking(simulated, 60), 3};
  run_to_end(beside);
  const auto job = local_launcher{}.train(breaking(o, 60));
  const auto result = job->wait(std::chrono::minutes{2});
  REQUIRE(result.has_value());
  REQUIRE_MESSAGE(result->has_value(), (*result ? "" : to_text(result->error())));
  CHECK((*result)->remark.starts_with("group 'b' left at step 60: "));
  CHECK(same_state(newest_checkpoint(o.files).content, newest_checkpoint(simulated.files).content));
}

}  // namespace troupe::test
