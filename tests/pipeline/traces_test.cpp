// Traces of steps in whole jobs.
#include "pipeline/launch/launcher.hpp"
#include "support/ended_jobs.hpp"
#include "support/has.hpp"
#include "support/threads.hpp"

#include <doctest/doctest.h>

#include <numeric>
#include <set>

namespace troupe::test {

namespace {

struct kept_traces : hook {
  std::vector<trace_need> wanted;
  std::vector<job_trace> all;
  explicit kept_traces(std::vector<trace_need> wanted_) : wanted(std::move(wanted_)) {}
  needs begin(int64_t) override { return {.traces = wanted}; }
  void on_trace(const job_trace& t, job_control&) override { all.push_back(t); }

  std::vector<std::pair<int64_t, int64_t>> steps() const {
    std::vector<std::pair<int64_t, int64_t>> of;
    for (const auto& t : all)
      of.emplace_back(t.first, t.end);
    return of;
  }
};

using pairs = std::vector<std::pair<int64_t, int64_t>>;

/// A world in which each turn of these takes time.
world_conditions slow_turns() {
  world_conditions c;
  for (const auto* node : {"replica", "infeed", "outfeed"})
    c.cost[node] = {std::chrono::milliseconds{5}, std::chrono::milliseconds{9}};
  return c;
}

std::set<int64_t> steps_in(const trace_lane& lane) {
  std::set<int64_t> all;
  for (const auto& s : lane.spans)
    if (s.step >= 0)
      all.insert(s.step);
  return all;
}

const trace_lane& lane_of(const job_trace& t, const std::string& actor) {
  const auto found = std::find_if(t.lanes.begin(), t.lanes.end(),
                                  [&](const trace_lane& l) { return l.actor == actor; });
  REQUIRE_MESSAGE(found != t.lanes.end(), actor);
  return *found;
}

}  // namespace

TEST_CASE("a trace has exactly its steps of every replica, and a lane without gaps for each actor") {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    const auto seen = std::make_shared<kept_traces>(std::vector<trace_need>{{.first = 6, .steps = 3}});
    small_job_options o{.replicas = 2, .hooks = {seen}};
    auto prepared = prepare(describe_small(o));
    REQUIRE(prepared);
    simulated_job job{*prepared, seed, slow_turns()};
    CHECK(run_to_end(job, std::chrono::hours{1}).global_step == 20);
    REQUIRE((seen->steps() == pairs{{6, 9}}));
    const auto& t = seen->all.front();
    CHECK(t.seconds > 0.01);
    for (const auto* name : {"replica/0", "replica/1"}) {
      const auto steps = steps_in(lane_of(t, name));
      for (const int64_t step : {6, 7, 8})
        CHECK(steps.contains(step));
      CHECK(*steps.begin() >= 5);  // The other replica may be at the step before or after.
      CHECK(*steps.rbegin() <= 9);
    }
    for (const auto* name : {"infeed/0", "outfeed", "checkpoint_writer", "callbacks", "chief"})
      CHECK(lane_of(t, name).left_out == 0);
    for (const auto& lane : t.lanes) {
      CAPTURE(lane.actor);
      if (lane.spans.empty())
        continue;
      double at = lane.spans.front().begin;
      for (const auto& s : lane.spans) {
        CHECK(s.begin == doctest::Approx(at));
        at = s.begin + s.seconds;
      }
      CHECK(at <= t.seconds + 1e-9);
    }
    CHECK(job.left().empty());
  }
}

TEST_CASE("traces change no bit of a job, and are cut by its end") {
  small_job_options o{.max_steps = 30, .replicas = 2, .evaluates = true};
  const auto expected_state = undisturbed(o);
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    const auto seen = std::make_shared<kept_traces>(std::vector<trace_need>{{.first = 2, .steps = 2, .every = 9}});
    auto again = o;
    again.files = memory_disk::make();
    again.hooks = {seen};
    simulated_job job{prepare_small(again), seed};
    CHECK(same_state(state_at_end(job, again.files, std::chrono::hours{10}), expected_state));
    CHECK((seen->steps() == pairs{{2, 4}, {11, 13}, {20, 22}, {29, 30}}));
  }
}

TEST_CASE("a trace whose attempt fails is dropped, and taken again where the job resumes before it") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    const auto seen = std::make_shared<kept_traces>(std::vector<trace_need>{{.first = 7, .steps = 10}});
    small_job_options o{.save_steps = 1'000, .hooks = {seen}, .recovers = 3};
    simulated_job job{prepare_small(o), seed};
    REQUIRE(job.crank_until([&] { return job.progress().step >= 9; }));
    REQUIRE(job.kill("replica/0"));
    run_to_end(job);
    for (const auto& t : seen->all)
      CHECK((t.first == 7 && t.end == 17));
    CHECK(seen->all.size() == 1);
  }
}

TEST_CASE("a node that is busy for long does not hold up a trace: its lane says that it does not answer") {
  const auto seen = std::make_shared<kept_traces>(std::vector<trace_need>{{.first = 12, .steps = 2}});
  small_job_options o{.evaluates = true, .when = evaluation_mode::beside, .hooks = {seen}};
  simulated_job job{prepare_small(o), 1};
  REQUIRE(job.crank_until([&] { return job.progress().step >= 1; }));
  job.hang("evaluator");
  REQUIRE(job.crank_until([&] { return !seen->all.empty(); }));
  job.unhang("evaluator");
  run_to_end(job);
  REQUIRE(seen->all.size() == 1);
  CHECK(lane_of(seen->all.front(), "replica/0").left_out == 0);
  CHECK(lane_of(seen->all.front(), "evaluator").left_out == -1);
}

TEST_CASE("on threads replicas of a trace work, and the parts of each step lie within it") {
  const auto seen = std::make_shared<kept_traces>(std::vector<trace_need>{{.first = 30, .steps = 20}});
  small_job_options o{.max_steps = 100, .replicas = 2, .hooks = {seen}};
  const auto job = local_launcher{}.train(prepare_small(o));
  const auto result = job->wait(soon);
  REQUIRE(result);
  REQUIRE(result->has_value());
  REQUIRE((seen->steps() == pairs{{30, 50}}));
  const auto& t = seen->all.front();
  CHECK(t.seconds > 0);
  for (const auto* name : {"replica/0", "replica/1"}) {
    const auto& lane = lane_of(t, name);
    const auto steps = steps_in(lane);
    for (int64_t step = 30; step < 50; ++step)
      CHECK(steps.contains(step));
    CHECK(lane.busy_seconds() > 0);
    CHECK(lane.busy_seconds() + lane.waiting_seconds() <= t.seconds * 1.000001);
  }
  CHECK(lane_of(t, "infeed/0").spans.size() > 1);
}

TEST_CASE("in a fast job far ahead of its reports a trace has its own steps, and each hook its own traces") {
  const auto early = std::make_shared<kept_traces>(std::vector<trace_need>{{.first = 3'000, .steps = 4}}),
             often = std::make_shared<kept_traces>(std::vector<trace_need>{{.first = 3'002, .steps = 3, .every = 500}});
  small_job_options o{.max_steps = 5'100, .save_steps = 10'000, .hooks = {early, often}};
  const auto job = local_launcher{}.train(prepare_small(o));
  const auto result = job->wait(soon);
  REQUIRE(result);
  REQUIRE(result->has_value());
  CHECK((early->steps() == pairs{{3'000, 3'004}}));
  // That of 3,002 begins within the other one.
  CHECK((often->steps() == pairs{{3'502, 3'505}, {4'002, 4'005}, {4'502, 4'505}, {5'002, 5'005}}));
  for (const auto* hook : {early.get(), often.get()})
    for (const auto& t : hook->all) {
      const auto& lane = lane_of(t, "replica/0");
      CHECK(lane.left_out == 0);
      const auto steps = steps_in(lane);
      for (int64_t step = t.first; step < t.end; ++step)
        CHECK(steps.contains(step));
    }
}

TEST_CASE("a job that ends before the first step of a trace shows none") {
  const auto seen = std::make_shared<kept_traces>(std::vector<trace_need>{{.first = 15, .steps = 5}});
  small_job_options o{.max_steps = 100, .input = small_dataset(40).batch(4), .hooks = {seen}};
  simulated_job job{prepare_small(o), 1};
  CHECK(run_to_end(job).global_step == 10);
  CHECK(seen->all.empty());
}

}  // namespace troupe::test
