// Simulated time: costs of turns, links between places, and the choice of the next turn.
#include "support/small_job.hpp"

#include <doctest/doctest.h>

#include <set>

namespace troupe::test {

namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

struct finished_job {
  std::chrono::nanoseconds took{};
  uint64_t hash = 0;
  checkpoint_content state;
};

finished_job run_whole(const world_conditions& conditions, uint64_t seed = 1, int64_t replicas = 2) {
  small_job_options o{.replicas = replicas, .reducers = true};  // Replicas of several places share no memory.
  simulated_job job{prepare_small(o), seed, conditions};
  const auto result = job.wait(1h);
  REQUIRE(result.has_value());
  REQUIRE_MESSAGE(result->has_value(), to_text(result->error()));
  finished_job f{job.now(), job.trace_hash(), {}};
  CHECK(job.left().empty());
  f.state = newest_checkpoint(o.files).content;
  return f;
}

/// A world in which replica 1 is on a host of its own.
world_conditions two_hosts(duration_range link) {
  world_conditions c;
  c.place["replica/1"] = "far";
  c.link = link;
  return c;
}

}  // namespace

TEST_CASE("a simulated job takes the time that its nodes take, side by side, and ends in the same state") {
  const auto timeless = run_whole({});
  CHECK(timeless.took < 1ms);
  world_conditions slow;
  slow.cost["replica"] = {10ms, 10ms};
  const auto one = run_whole(slow, 1, 1), two = run_whole(slow, 1, 2);
  CHECK(one.took > 200ms);  // 20 steps of 10 ms.
  CHECK(one.took < 2s);
  CHECK(two.took < one.took * 4);  // Two replicas compute at the same time, but need more messages for each step.
  CHECK(same_state(two.state, timeless.state));
}

TEST_CASE("a message to another place takes as long as the link says, and each step of two hosts pays for it") {
  const auto near = run_whole(two_hosts({0ms, 0ms})), far = run_whole(two_hosts({5ms, 5ms})),
             drawn = run_whole(two_hosts({0ms, 5ms}));
  CHECK(near.took < 1ms);
  CHECK(far.took > 20 * 2 * 5ms);  // Each step sends a gradient to the reducer and its sum back.
  CHECK(drawn.took > 100us);
  CHECK(drawn.took < far.took);
  CHECK(same_state(far.state, near.state));
  CHECK(same_state(drawn.state, near.state));
}

TEST_CASE("the trace of a simulated job depends on its seed and on times, and on nothing else") {
  const auto conditions = two_hosts({1ms, 9ms});
  CHECK(run_whole(conditions, 7).hash == run_whole(conditions, 7).hash);
  std::set<uint64_t> seen;
  for (uint64_t seed = 1; seed <= 20; ++seed)
    seen.insert(run_whole(conditions, seed).hash);
  for (const auto link : {2ms, 3ms, 4ms})
    seen.insert(run_whole(two_hosts({link, link}), 1).hash);
  CHECK(seen.size() == 23);
}

TEST_CASE("what is sent over a link that is cut waits, and comes in order once the link is healed") {
  small_job_options o{.replicas = 2, .reducers = true};
  simulated_job job{prepare_small(o), 3, two_hosts({1ms, 3ms})};
  REQUIRE(job.crank_until([&] { return job.progress().step >= 6; }));
  job.cut("far");
  const auto before = job.now();
  job.after(30s, [&] { job.heal("far"); });
  REQUIRE(job.crank_until([&] { return job.now() >= before + 29s; }));
  const auto stuck_at = job.progress().step;
  CHECK(stuck_at < 20);
  const auto result = job.wait(1h);
  REQUIRE((result && *result));
  CHECK((*result)->global_step == 20);
  CHECK(job.now() > before + 30s);
  CHECK(job.left().empty());
  CHECK(same_state(newest_checkpoint(o.files).content, run_whole({}).state));
}

TEST_CASE("a node that is inside a call for a while gets no turn, and the others go on meanwhile") {
  small_job_options o{.max_steps = 200, .save_steps = 50};
  simulated_job job{prepare_small(o), 3};
  REQUIRE(job.crank_until([&] { return job.progress().step >= 10; }));
  const auto before = job.now();
  job.occupy("checkpoint_writer", 5s);
  REQUIRE(job.crank_until([&] { return job.progress().step >= 60; }));
  CHECK(job.now() < before + 1s);
  const auto result = job.wait(1h);
  REQUIRE((result && *result));
  CHECK(job.now() >= before + 5s);
}

TEST_CASE("every order of turns leads to the same state, and a node that is starved has its turn all the same") {
  const auto expected = run_whole({}).state;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    world_conditions c;
    c.cost["infeed"] = c.cost["replica"] = {0us, 300us};
    c.order = turn_order::priorities;
    c.priority_changes = static_cast<int32_t>(seed);
    CHECK(same_state(run_whole(c, seed).state, expected));
    c.order = turn_order::starving;
    for (const char* node : {"infeed/0", "replica/1", "reducer", "outfeed", "checkpoint_writer", "chief"}) {
      c.starved = node;
      CHECK(same_state(run_whole(c, seed).state, expected));
    }
  }
}

TEST_CASE("all nodes of a place die at once, and nobody else does") {
  small_job_options o{.replicas = 2, .reducers = true, .recovers = 3};
  auto conditions = two_hosts({1ms, 2ms});
  conditions.place["infeed"] = "far";
  simulated_job job{prepare_small(o), 3, conditions};
  REQUIRE(job.crank_until([&] { return job.progress().step >= 7; }));
  CHECK_FALSE(job.kill_place("nowhere"));
  CHECK(job.kill_place("far"));
  const auto result = job.wait(1h);
  REQUIRE((result && *result));
  CHECK(steps_of(job.events(), job_event::kind::recovered) == steps{5});
  CHECK(same_state(newest_checkpoint(o.files).content, run_whole({}).state));
}

TEST_CASE("conditions name a node by its whole name first, then by its name without the number") {
  const std::map<std::string, int> by_name{{"replica", 1}, {"replica/12", 2}, {"evaluator/replica", 3}};
  CHECK(*entry_of(by_name, "replica/1") == 1);
  CHECK(*entry_of(by_name, "replica/12") == 2);
  CHECK(*entry_of(by_name, "evaluator/replica/0") == 3);
  CHECK(entry_of(by_name, "infeed/0") == nullptr);
  CHECK(entry_of(by_name, "evaluator") == nullptr);
}

}  // namespace troupe::test
