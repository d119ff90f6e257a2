// The facts that hooks receive, and jobs whose hooks fail.
#include "pipeline/launch/launch_simulated.hpp"

#include "support/small_job.hpp"

#include <doctest/doctest.h>

#include <bit>

namespace troupe::test {

namespace {

/// Keeps the loss of every step that it sees, and stops the job at a gate whose loss is below `target`.
struct loss_watcher final : hook {
  need wants{.first = 1, .every = 1};
  double target = 0;
  std::vector<std::pair<int64_t, uint32_t>> seen;  ///< The state, and the bits of the loss of the step that led there.
  std::optional<int64_t> asked_at;

  needs begin(int64_t) override { return {.steps = {wants}}; }
  void on_step(const step_facts& facts, job_control& job) override {
    const float loss = facts.values.at("loss").as<float>()[0];
    seen.emplace_back(facts.step, std::bit_cast<uint32_t>(loss));
    if (loss < target && !std::exchange(asked_at, facts.step))
      job.stop();
  }
};

/// Stops the job on the first fact of a kind that is about state `at` or a later one.
struct stops_on final : hook {
  job_event::kind what = job_event::kind::evaluated;
  int64_t at = 10;
  bool holds = true;
  needs begin(int64_t) override {
    return {.holds = {.saved = holds && what == job_event::kind::saved, .evaluated = holds && what == job_event::kind::evaluated}};
  }
  void on_event(const job_event& e, job_control& job) override {
    if (e.what == what && e.step >= at)
      job.stop();
  }
};

/// Throws in every `end` and `on_abort` that it is told to.
struct bad_loser final : hook {
  bool in_end = false;
  std::vector<std::string>* calls = nullptr;
  void end(int64_t) override {
    calls->push_back("end");
    if (in_end)
      throw std::runtime_error{"not yet"};
  }
  void on_abort(const error&) override { calls->push_back("abort"); }
};

small_job_options watched_job(int64_t replicas, std::shared_ptr<hook> who) {
  return {.max_steps = 20, .replicas = replicas, .shards = 4, .input = small_dataset(64).shuffle().batch(16).repeat(), .hooks = {std::move(who)},
          .source = small_model(0.2, 0.05)};
}

}  // namespace

TEST_CASE("a hook sees the loss of a step as the mean over all its gradient shards, the same bits whatever the replicas") {
  std::vector<std::vector<std::pair<int64_t, uint32_t>>> seen;
  std::vector<job_event> events;
  for (const int64_t replicas : {1, 2, 4}) {
    const auto watcher = std::make_shared<loss_watcher>();
    auto d = describe_small(watched_job(replicas, watcher));
    d.config.log_step_count_steps = 1;
    simulated_job job{*prepare(d), 3};
    REQUIRE(job.wait(std::chrono::hours{2})->has_value());
    REQUIRE(watcher->seen.size() == 20);
    seen.push_back(watcher->seen);
    events = job.events();
  }
  CHECK(seen[1] == seen[0]);
  CHECK(seen[2] == seen[0]);
  size_t logged = 0;
  for (const auto& e : events)
    if (e.what == job_event::kind::progress) {
      CHECK(std::bit_cast<uint32_t>(static_cast<float>(e.loss)) == seen[0][logged].second);
      ++logged;
    }
  CHECK(logged == 20);
}

TEST_CASE("a gate that stops at a loss ends the job at the same step with one replica, two and four") {
  std::vector<int64_t> ends;
  double target = 0;
  {  // The loss that one replica has in the middle, a little above: the first step below it is where all should stop.
    const auto watcher = std::make_shared<loss_watcher>();
    simulated_job job{prepare_small(watched_job(1, watcher)), 3};
    REQUIRE(job.wait(std::chrono::hours{2})->has_value());
    target = static_cast<double>(std::bit_cast<float>(watcher->seen.at(9).second)) + 1e-6;
  }
  for (const int64_t replicas : {1, 2, 4}) {
    const auto watcher = std::make_shared<loss_watcher>();
    watcher->wants.gate = true;
    watcher->target = target;
    simulated_job job{prepare_small(watched_job(replicas, watcher)), 3};
    const auto result = job.wait(std::chrono::hours{2});
    REQUIRE(result->has_value());
    CHECK((*result)->stopped);
    CHECK((*result)->global_step == watcher->asked_at);
    ends.push_back((*result)->global_step);
  }
  CHECK(ends[0] <= 10);
  CHECK(ends == std::vector<int64_t>(3, ends[0]));
}

TEST_CASE("a hook that stops on a fact that it holds ends the job at exactly that state, in every order of messages") {
  bool went_on = false;
  for (const auto what : {job_event::kind::saved, job_event::kind::evaluated})
    for (uint64_t seed = 1; seed <= 20; ++seed) {
      CAPTURE(seed);
      const auto stop_held = [&](bool holds) {
        const auto h = std::make_shared<stops_on>();
        h->what = what;
        h->holds = holds;
        simulated_job job{prepare_small({.max_steps = 1'000, .replicas = 2, .evaluates = true, .when = evaluation_mode::beside, .hooks = {h}}), seed};
        const auto result = job.wait(std::chrono::hours{2});
        REQUIRE(result->has_value());
        CHECK((*result)->stopped);
        return (*result)->global_step;
      };
      CHECK(stop_held(true) == 10);
      went_on = went_on || stop_held(false) > 10;
    }
  CHECK_MESSAGE(went_on, "a fact that nobody holds finds the job further on");
}

TEST_CASE("a hook whose end throws fails the job that had ended well, and names itself; the end of all others is called") {
  std::vector<std::string> calls;
  small_job_options o;
  for (const bool throws : {false, true, false}) {
    auto h = std::make_shared<bad_loser>();
    h->in_end = throws;
    h->calls = &calls;
    o.hooks.push_back(h);
  }
  simulated_job job{prepare_small(o), 1};
  const auto result = job.wait(std::chrono::hours{2});
  REQUIRE(result.has_value());
  REQUIRE_FALSE(result->has_value());
  CHECK(result->error().category == errc::state);
  CHECK(result->error().message.starts_with("an exception left end() of hooks[1] (troupe::test::"));
  CHECK(result->error().message.ends_with("bad_loser): not yet"));
  CHECK(calls == std::vector<std::string>{"end", "end", "end"});
  CHECK(job.left().empty());
}

}  // namespace troupe::test
