// Sessions on threads, by the public interface.
#include "tests/estimator/small_start.hpp"
#include "tests/support/threads.hpp"

#include <troupe/session.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <thread>

namespace troupe::test {

using namespace std::chrono_literals;

TEST_CASE("a session is moved by its caller to the job's end, with the result and the bits of the job") {
  temporary_directory directory;
  auto job = train(small_estimator(directory / "job"), small_training(40));
  REQUIRE(job);
  const auto before = threads();
  {
    auto s = session::open(small_estimator(directory / "session"), small_training(40));
    REQUIRE_MESSAGE(s.has_value(), why(s));
    for (int64_t runs = 1; !s->should_stop(); ++runs) {
      const auto made = s->run({.what = {.fetches = {"loss"}}, .steps = 1});
      REQUIRE_MESSAGE(made.has_value(), why(made));
      CHECK(made->step == runs);
      CHECK(made->values.size() == 1);
    }
    const auto result = s->close();
    REQUIRE_MESSAGE(result.has_value(), why(result));
    CHECK(result->global_step == 40);
    CHECK(result->metrics == job->metrics);
    CHECK(s->close().error().category == errc::state);
  }
  CHECK(threads_fall_to(before));
}

TEST_CASE("several sessions at once make their steps apart, and one that is moved from holds none") {
  temporary_directory directory;
  auto a = session::open(small_estimator(directory / "a"), small_training(endless));
  auto b = session::open(small_estimator(directory / "b"), small_training(endless));
  REQUIRE(a);
  REQUIRE(b);
  CHECK(a->run({.steps = 30})->step == 30);
  CHECK(b->run({.steps = 3})->step == 3);
  session c = std::move(*a);
  CHECK(c.run()->step == 31);
  CHECK(a->run().error().category == errc::state);
  CHECK(a->save().error().category == errc::state);
  CHECK(a->close().error().category == errc::state);
  CHECK(a->should_stop());
  CHECK(a->progress().step == 0);
  CHECK(*c.save() == directory / "a" + "/model.ckpt-31");
  CHECK(newest_step(directory / "a") == 31);
  c = std::move(*b);  // The job of `a` is aborted.
  CHECK(c.run()->step == 4);
  CHECK(c.close()->global_step == 4);
  const auto second = session::open(small_estimator(directory / "b"), small_training(endless));
  REQUIRE(second);
  const auto third = session::open(small_estimator(directory / "b"), small_training(endless));
  REQUIRE_FALSE(third);
  CHECK(third.error().category == errc::failed_precondition);
}

TEST_CASE("while one thread is in a run, another one's run and save are refused, and its stop ends the run early") {
  temporary_directory directory;
  auto s = session::open(small_estimator(directory / "a"), small_training(endless));
  REQUIRE(s);
  std::optional<expected<run_result>> made;
  std::thread other{[&] { made = s->run({.what = {.fetches = {"loss"}}, .steps = endless / 2}); }};
  while (s->progress().step < 10)
    std::this_thread::yield();
  CHECK(s->run().error().category == errc::state);
  CHECK(s->save().error().category == errc::state);
  CHECK_FALSE(s->should_stop());
  s->request_stop();
  other.join();
  REQUIRE(made);
  REQUIRE_MESSAGE(made->has_value(), why(*made));
  CHECK((*made)->steps_run == (*made)->step);
  CHECK((*made)->values.contains("loss"));
  CHECK(s->should_stop());
  const auto result = s->close();
  REQUIRE(result);
  CHECK(result->global_step == (*made)->step);
  CHECK(newest_step(directory / "a") == result->global_step);
}

TEST_CASE("a loop beside the runs sees the progress, its error stops all and is told by the next run and the close") {
  temporary_directory directory;
  auto s = session::open(small_estimator(directory / "a"), small_training(endless));
  REQUIRE(s);
  std::atomic<int64_t> seen = 0, calls = 0;
  s->loop("watch", 1ms, [&](const loop_context& now) -> expected<void> {
    seen = now.progress().step;
    ++calls;
    return {};
  });
  REQUIRE(s->run({.steps = 20}));
  while (seen < 20)
    std::this_thread::yield();
  std::atomic<bool> fails = false;
  s->loop("table", {}, [&](const loop_context&) -> expected<void> {
    if (fails)
      return fail(errc::not_found, "no such table");
    std::this_thread::yield();
    return {};
  });
  REQUIRE(s->run());
  fails = true;
  while (!s->should_stop())
    std::this_thread::yield();
  const auto next = s->run();
  REQUIRE_FALSE(next);
  CHECK(next.error().message == "no such table");
  const auto closed = s->close();
  REQUIRE_FALSE(closed);
  CHECK(closed.error().category == errc::not_found);
  CHECK(newest_step(directory / "a") == 21);
}

TEST_CASE(
    "a loop sees the last run and variables of one state while a run is under way, and writes to the event file") {
  temporary_directory directory;
  auto e = small_estimator(directory / "a");
  e.config.replicas = 2;
  e.config.save_summary_steps = 100;
  auto s = session::open(e, small_training(endless));
  REQUIRE(s);
  constexpr int64_t steps = 500;
  std::atomic<int64_t> within = 0, runs_seen = 0;
  std::atomic<bool> wrong = false;
  s->loop("norm", {}, [&](const loop_context& now) -> expected<void> {
    const auto last = now.last_run();
    const auto all = now.variables({"dense/kernel", "dense/kernel/Adam"});
    if (!all)
      return fail(all.error());
    wrong = wrong || all->values.size() != 2 || all->step < last.step
            || (last.steps_run > 0 && !last.values.contains("loss"));
    runs_seen = std::max<int64_t>(runs_seen, last.step);
    within += all->step % steps != 0 ? 1 : 0;
    return now.summarise({{"norm", 1.5}}, all->step);
  });
  for (int64_t run = 1; runs_seen == 0 || within < 3; ++run) {
    const auto made = s->run({.what = {.fetches = {"loss"}}, .steps = steps});
    REQUIRE_MESSAGE(made.has_value(), why(made));
    CHECK(made->step == steps * run);
  }
  CHECK_FALSE(wrong);
  CHECK(s->variables({}).error().category == errc::invalid_argument);
  CHECK(s->close());
}

TEST_CASE("a loop that fails because the job has ended is no failure of the session") {
  temporary_directory directory;
  auto s = session::open(small_estimator(directory / "a"), small_training(5));
  REQUIRE(s);
  std::atomic<int> ends = 0, calls = 0;
  s->loop("norm", {}, [&](const loop_context& now) -> expected<void> {
    ++calls;
    const auto all = now.variables({"dense/kernel"});
    if (all)
      return {};
    CHECK(all.error().category == errc::state);
    ++ends;
    return fail(all.error());
  });
  REQUIRE(s->run({.steps = 5}));
  while (ends == 0)
    std::this_thread::yield();
  const auto result = s->close();
  REQUIRE_MESSAGE(result.has_value(), why(result));
  CHECK(result->global_step == 5);
  CHECK(ends == 1);
  CHECK(calls > 0);
}

TEST_CASE("loops whose error is a preemption begin again after the recovery, and work that does not end is named") {
  temporary_directory directory;
  std::vector<std::string> lines;
  auto e = small_estimator(directory / "a");
  auto s = session::open(
      e, small_training(endless),
      {.stop_grace_period_secs = 0.05, .log = [&](const std::string& line) { lines.push_back(line); }});
  REQUIRE(s);
  REQUIRE(s->run({.steps = 5}));
  REQUIRE(s->save());
  REQUIRE(s->run({.steps = 5}));
  std::atomic<int> calls = 0;
  s->loop("feeder", 1h, [&](const loop_context&) -> expected<void> {
    return ++calls == 1 ? expected<void>{fail(errc::aborted, "preempted")} : expected<void>{};
  });
  while (!s->beside().should_stop())
    std::this_thread::yield();
  CHECK_FALSE(s->should_stop());
  const auto made = s->run();
  REQUIRE_MESSAGE(made.has_value(), why(made));
  CHECK(made->step == 6);
  while (calls < 2)
    std::this_thread::yield();
  auto reader = s->beside().enlist("reader");
  CHECK(s->close());
  REQUIRE(lines.size() == 1);
  CHECK_MESSAGE(lines[0].find("reader") != std::string::npos, lines[0]);
}

TEST_CASE("a session that was moved from answers every call") {
  temporary_directory directory;
  auto s = session::open(small_estimator(directory / "a"), small_training(endless));
  REQUIRE(s);
  auto taken = std::move(*s);
  CHECK(s->should_stop());
  CHECK(s->run().error().category == errc::state);
  CHECK(s->save().error().category == errc::state);
  CHECK(s->beside().should_stop());
  CHECK(s->beside().join().error().category == errc::state);
  s->loop("none", {}, [](const loop_context&) -> expected<void> { return {}; });
  s->request_stop();
  CHECK(s->summarise({}).error().category == errc::state);
  CHECK(s->close().error().category == errc::state);
  CHECK(taken.run());
  CHECK(taken.close());
}

TEST_CASE("a session that is destroyed saves nothing, and calls no hook any more") {
  temporary_directory directory;
  struct witness : hook {
    bool begun = false, heard = false;
    needs begin(int64_t) override { return begun = true, needs{}; }
    void on_abort(const error&) override { heard = true; }
    void end(int64_t) override { heard = true; }
  };
  const auto w = std::make_shared<witness>();
  {
    auto s = session::open(small_estimator(directory / "a"), small_training(endless, {w}));
    REQUIRE(s);
    REQUIRE(s->run({.steps = 5}));
  }
  CHECK(newest_step(directory / "a") == 0);
  CHECK(w->begun);
  CHECK_FALSE(w->heard);
}

TEST_CASE("hooks of a session run where its executor runs them") {
  temporary_directory directory;
  struct where : run_hook {
    std::set<std::thread::id> seen;
    void after_run(const run_facts&, job_control&) override { seen.insert(std::this_thread::get_id()); }
  };
  const auto w = std::make_shared<where>();
  std::thread::id runner;
  session_options options;
  options.embedding.executor = [&](std::function<void()> task) {
    std::thread other{std::move(task)};
    runner = other.get_id();
    other.join();
  };
  auto s = session::open(small_estimator(directory / "a"), small_training(endless, {w}), options);
  REQUIRE(s);
  REQUIRE(s->run());
  CHECK(w->seen.size() == 1);
  CHECK_FALSE(w->seen.contains(std::this_thread::get_id()));
  CHECK(s->close());
}

}  // namespace troupe::test
