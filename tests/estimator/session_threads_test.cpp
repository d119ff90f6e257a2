// Threads of the program beside the runs of a session.
#include "tests/estimator/small_start.hpp"

#include <troupe/batch_feed.hpp>
#include <troupe/session.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <latch>
#include <thread>

namespace troupe::test {

using namespace std::chrono_literals;

namespace {

/// A session that gives work beside it little time to end, and keeps its lines.
struct hasty {
  temporary_directory directory;
  std::vector<std::string> lines;

  expected<session> open(double grace = 0.05) {
    return session::open(
        small_estimator(directory / "a"), small_training(endless),
        {.stop_grace_period_secs = grace, .log = [this](const std::string& line) { lines.push_back(line); }});
  }
};

/// A feeder beside a session that saves every 5 steps and ends at 60.
struct fed_session {
  temporary_directory directory;
  example_tensors batch{{{"x", tensor::zeros(dtype::float32, {4, 8})}}, {{"y", tensor::zeros(dtype::int32, {4})}}};
  batch_feed feed{small_dataset(4).batch(4).spec(), {.batch_size = 4, .capacity = 2, .forgets = true}};
  std::atomic<int64_t> calls = 0, fails_at = 0;
  expected<session> opened = fail(errc::state, "not yet");
  std::thread feeder;

  fed_session() {
    auto e = estimator{
        small_model(),
        {.model_dir = directory / "a", .seed = 7, .save_checkpoints_steps = 5, .recovery_attempts_max = 3}};
    opened = session::open(e, {.input = feed.input(), .max_steps = 60});
    REQUIRE_MESSAGE(opened.has_value(), why(opened));
    feeder = std::thread{[this] {
      auto together = opened->beside();
      feed_from(together, feed, "feeder", [this]() -> expected<std::optional<example_tensors>> {
        return ++calls == fails_at ? expected<std::optional<example_tensors>>{fail(errc::aborted, "preempted")} : batch;
      });
    }};
  }
  fed_session(const fed_session&) = delete;
  ~fed_session() {
    feed.cancel();
    feeder.join();
  }
  /// Runs to the end, and returns how often the job has recovered.
  int64_t run_to_end(int64_t steps) {
    int64_t recoveries = 0;
    while (!opened->should_stop()) {
      const auto made = opened->run({.steps = steps});
      REQUIRE_MESSAGE(made.has_value(), why(made));
      recoveries += made->recoveries;
    }
    return recoveries;
  }
};

void await(const std::function<bool()>& there) {
  while (!there())
    std::this_thread::yield();
}

}  // namespace

TEST_CASE("a thread that keeps asking whether the session should stop never makes a run or a save fail") {
  temporary_directory directory;
  auto s = session::open(small_estimator(directory / "a"), small_training(endless));
  REQUIRE(s);
  std::atomic<bool> over = false;
  std::atomic<int64_t> asked = 0;
  std::thread other{[&] {
    while (!over && !s->should_stop())
      ++asked;
  }};
  int64_t failed = 0;
  for (int run = 1; run <= 2000; ++run)
    failed += s->run() ? 0 : 1;
  failed += s->save() ? 0 : 1;
  over = true;
  other.join();
  CHECK(failed == 0);
  CHECK(asked > 0);
  CHECK(s->close()->global_step == 2000);
}

TEST_CASE("a loop that was preempted and asks whether the session should stop does not recover the job itself") {
  hasty h;
  auto s = h.open(120);
  REQUIRE(s);
  REQUIRE(s->run({.steps = 3}));
  std::atomic<int> calls = 0, answers = 0;
  s->loop("asking", 1h, [&](const loop_context&) -> expected<void> {
    answers += s->should_stop() ? 100 : 1;
    return ++calls == 1 ? expected<void>{fail(errc::aborted, "preempted")} : expected<void>{};
  });
  await([&] { return s->beside().should_stop(); });
  CHECK(s->progress().step == 3);
  const auto made = s->run();
  REQUIRE_MESSAGE(made.has_value(), why(made));
  CHECK(made->step == 1);
  CHECK(made->recoveries == 1);
  await([&] { return calls == 2; });
  CHECK(answers == 2);
  CHECK(s->close());
  CHECK(h.lines.empty());
}

TEST_CASE("a loop whose function has not returned when the job recovers goes on, on the one thread that it has") {
  hasty h;
  std::atomic<bool> goes_on = false;
  std::atomic<int> within = 0, most = 0, slow_calls = 0, ends = 0;
  auto s = h.open();
  REQUIRE(s);
  REQUIRE(s->run({.steps = 3}));
  s->loop("slow", 1ms, [&](const loop_context&) -> expected<void> {
    ++slow_calls;
    most = std::max<int>(most, ++within);
    await([&] { return goes_on.load(); });
    --within;
    return {};
  });
  await([&] { return within == 1; });
  s->loop("preempted", 1h, [&](const loop_context&) -> expected<void> {
    return ++ends == 1 ? expected<void>{fail(errc::aborted, "preempted")} : expected<void>{};
  });
  await([&] { return s->beside().should_stop(); });
  REQUIRE(s->run());
  REQUIRE(h.lines.size() == 1);
  CHECK_MESSAGE(h.lines[0].starts_with("'slow'"), h.lines[0]);
  await([&] { return ends == 2; });
  goes_on = true;
  await([&] { return slow_calls > 2; });
  CHECK(most == 1);
  CHECK(s->close());
  CHECK(within == 0);
  const int calls = slow_calls;
  std::this_thread::yield();
  CHECK(slow_calls == calls);
}

TEST_CASE("a loop that throws, or that has nothing to call, ends the session with an error that names the loop") {
  for (const bool throws : {true, false}) {
    hasty h;
    auto s = h.open();
    REQUIRE(s);
    using function = std::function<expected<void>(const loop_context&)>;
    s->loop(
        "norm", 1h,
        throws ? function{[](const loop_context&) -> expected<void> { throw std::runtime_error("no"); }} : function{});
    await([&] { return s->beside().should_stop(); });
    const auto made = s->run();
    REQUIRE_FALSE(made);
    CHECK(made.error()
          == (throws ? error{errc::state, "an exception left the loop 'norm': no"}
                     : error{errc::invalid_argument, "the loop 'norm' has an empty function"}));
    CHECK(s->close().error() == made.error());
  }
}

TEST_CASE("a stop that is asked for while the job recovers is not forgotten") {
  hasty h;
  auto s = h.open();
  REQUIRE(s);
  std::atomic<bool> asked = false;
  auto together = s->beside();
  auto here = std::make_optional(together.enlist("late"));
  // Ends only once its stop is no longer the one that has begun the recovery.
  std::thread late{[&] {
    await([&] { return together.should_stop(); });
    await([&] { return !together.should_stop(); });
    static_cast<void>(together.request_stop());
    asked = true;
  }};
  REQUIRE(s->run({.steps = 3}));
  REQUIRE(together.request_stop(error{errc::aborted, "preempted"}));
  static_cast<void>(s->run());
  late.join();
  CHECK(asked);
  CHECK(s->should_stop());
  here.reset();
  CHECK(s->close());
}

TEST_CASE("a session that is destroyed while the function of a loop does not return has aborted its job") {
  hasty h;
  const auto goes_on = std::make_shared<std::atomic<bool>>(false), left = std::make_shared<std::atomic<bool>>(false);
  {
    auto s = h.open();
    REQUIRE(s);
    REQUIRE(s->run({.steps = 3}));
    const auto within = std::make_shared<std::atomic<bool>>(false);
    s->loop("slow", 1h, [=](const loop_context& now) -> expected<void> {
      *within = true;
      await([&] { return goes_on->load(); });
      CHECK(now.progress().step == 3);
      CHECK(now.variables({"dense/kernel"}).error().message == "the session is closed");
      *left = true;
      return {};
    });
    await([&] { return within->load(); });
  }
  CHECK(h.lines.size() == 1);
  auto again = h.open();
  REQUIRE_MESSAGE(again.has_value(), why(again));
  CHECK(again->close());
  *goes_on = true;
  await([&] { return left->load(); });
}

TEST_CASE("a preemption beside the runs after the last one is no error of the close, but a line") {
  hasty h;
  auto s = h.open();
  REQUIRE(s);
  REQUIRE(s->run());
  REQUIRE(s->beside().request_stop(error{errc::aborted, "the feeder was preempted"}));
  CHECK(s->close());
  REQUIRE(h.lines.size() == 1);
  CHECK_MESSAGE(h.lines[0].find("the feeder was preempted") != std::string::npos, h.lines[0]);
}

TEST_CASE("[SUP-20] a preemption beside the runs that is made good does not end the data that a thread brings") {
  fed_session s;
  REQUIRE(s.opened->run({.steps = 7}));
  REQUIRE(s.opened->beside().request_stop(error{errc::aborted, "the other feeder was preempted"}));
  CHECK(s.run_to_end(4) == 1);
  const auto result = s.opened->close();
  REQUIRE_MESSAGE(result.has_value(), why(result));
  CHECK(result->global_step == 60);
}

TEST_CASE("[SUP-21] a feeder that is preempted during a run feeds again when the job has recovered, and the run ends") {
  for (const int64_t steps : {1, 60}) {
    CAPTURE(steps);
    fed_session s;
    s.fails_at = s.calls + 20;
    CHECK(s.run_to_end(steps) == 1);
    const auto result = s.opened->close();
    REQUIRE_MESSAGE(result.has_value(), why(result));
    CHECK(result->global_step == 60);
    CHECK(s.calls > s.fails_at);
  }
}

}  // namespace troupe::test
