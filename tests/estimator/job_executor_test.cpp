// Hooks that run on a thread which the caller chooses.
#include "tests/estimator/small_start.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

#include <condition_variable>
#include <deque>
#include <set>
#include <thread>

namespace troupe::test {

namespace {

using namespace std::chrono_literals;
using task = std::function<void()>;

/// An event loop with a thread of its own, as in a service.
class loop {
 public:
  loop() : thread_([this](const std::stop_token& stop) { run(stop); }) {}
  void post(task t) {
    std::lock_guard lock{guard_};
    tasks_.push_back(std::move(t));
    waiting_max_ = std::max(waiting_max_, tasks_.size());
    posted_.notify_one();
  }
  std::thread::id id() const { return thread_.get_id(); }
  size_t waiting_max() {
    std::lock_guard lock{guard_};
    return waiting_max_;
  }
  start_options options() {
    return {.executor = [this](task t) { post(std::move(t)); }};
  }

 private:
  void run(const std::stop_token& stop) {
    std::unique_lock lock{guard_};
    while (posted_.wait(lock, stop, [this] { return !tasks_.empty(); })) {
      const auto next = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      next();
      lock.lock();
    }
  }

  std::mutex guard_;
  std::condition_variable_any posted_;
  std::deque<task> tasks_;
  size_t waiting_max_ = 0;
  std::jthread thread_;
};

/// Records every call and its thread. It has no lock, so that concurrent calls are a race, which the sanitizer finds.
struct noting : hook {
  std::set<std::thread::id> where;
  std::vector<std::string> calls;
  std::vector<int64_t> progress;
  std::optional<int64_t> throws_at, stops_at;

  void note(const std::string& what) {
    where.insert(std::this_thread::get_id());
    calls.push_back(what);
  }
  needs begin(int64_t step) override {
    note("begin " + std::to_string(step));
    return {.steps = {{.first = 8}, {.first = 12, .gate = true}}};
  }
  void on_step(const step_facts& facts, job_control& job) override {
    note("at " + std::to_string(facts.step));
    if (throws_at == facts.step)
      throw std::runtime_error{"out of patience"};
    if (stops_at == facts.step)
      job.stop();
  }
  void on_event(const job_event& e, job_control&) override {
    where.insert(std::this_thread::get_id());
    if (e.what == job_event::kind::progress)
      progress.push_back(e.step);
  }
  void end(int64_t step) override { note("end " + std::to_string(step)); }
  void on_abort(const error& cause) override { note("abort: " + cause.message); }
};

using calls = std::vector<std::string>;

}  // namespace

TEST_CASE(
    "with an executor every call of a hook happens on its thread, in the order of the facts, one task at a time") {
  temporary_directory directory;
  const auto seen = std::make_shared<noting>();
  loop service;
  auto running = start(small_estimator(directory / "run"), small_training(20, {seen}), {}, service.options());
  REQUIRE(running.has_value());
  const auto result = running->wait(soon);
  REQUIRE_MESSAGE(result.has_value(), why(result));
  CHECK(seen->calls == calls{"begin 0", "at 8", "at 12", "end 20"});
  CHECK(seen->progress == std::vector<int64_t>{5, 10, 15, 20});
  CHECK(seen->where == std::set{service.id()});
  CHECK(service.waiting_max() == 1);
}

TEST_CASE("without an executor hooks are called on one thread, which is not the caller's") {
  temporary_directory directory;
  const auto seen = std::make_shared<noting>();
  auto running = start(small_estimator(directory / "run"), small_training(20, {seen}));
  REQUIRE(running.has_value());
  REQUIRE(running->wait(soon).has_value());
  CHECK(seen->where.size() == 1);
  CHECK_FALSE(seen->where.contains(std::this_thread::get_id()));
}

TEST_CASE("what a hook asks for on the executor's thread is done") {
  temporary_directory directory;
  const auto seen = std::make_shared<noting>();
  seen->stops_at = 12;
  loop service;
  auto running = start(small_estimator(directory / "run"), small_training(endless, {seen}), {}, service.options());
  REQUIRE(running.has_value());
  const auto result = running->wait(soon);
  REQUIRE(result.has_value());
  CHECK(result->stopped);
  CHECK(result->global_step == 12);  // The gate stopped training here.
}

TEST_CASE(
    "an exception that leaves a hook ends the job as state after a last save, on the executor's thread as on our own") {
  temporary_directory directory;
  const auto seen = std::make_shared<noting>();
  seen->throws_at = 12;
  loop service;
  start_options options;
  SUBCASE("our own") {}
  SUBCASE("the executor's") { options = service.options(); }
  auto running = start(small_estimator(directory / "run"), small_training(endless, {seen}), {}, options);
  REQUIRE(running.has_value());
  const auto result = running->wait(soon);
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().category == errc::state);
  CHECK(result.error().message.starts_with("an exception left on_step() of hooks[0] ("));
  CHECK(result.error().message.ends_with("noting): out of patience"));
  CHECK(result.error().source == "callbacks");
  CHECK(result.error().step == 12);
  CHECK(newest_step(directory / "run") >= 12);
  CHECK(seen->calls.back() == "abort: " + result.error().message);
}

TEST_CASE("an executor that stops running tasks ends the job as deadline_exceeded that names it, after a last save") {
  temporary_directory directory;
  const auto seen = std::make_shared<noting>();
  // No lock: only the callbacks' thread posts, and the test reads this after the end of the job.
  std::vector<task> kept;
  const auto executor = [&](task t) {
    if (seen->progress.empty())
      t();
    else
      kept.push_back(std::move(t));
  };
  auto running = start(small_estimator(directory / "run"), small_training(endless, {seen}), {},
                       {.executor = executor, .executor_deadline = 20ms});
  REQUIRE(running.has_value());
  const auto result = running->wait(soon);
  REQUIRE_FALSE(result.has_value());
  CHECK(result.error().category == errc::deadline_exceeded);
  CHECK(has(result.error().message, "the executor of the hooks did not run a task within 20 ms"));
  CHECK(result.error().source == "callbacks");
  CHECK(newest_step(directory / "run") >= 5);
  CHECK(kept.size() == 1);
  const auto before = seen->calls;
  for (const auto& t : kept)
    t();  // A late task does nothing.
  CHECK(seen->calls == before);
}

TEST_CASE("the thread that ought to run the tasks may end the job without running them, and no hook is called after") {
  temporary_directory directory;
  const auto seen = std::make_shared<noting>();
  std::mutex guard;
  std::condition_variable posted;
  std::vector<task> kept;
  {
    auto running = start(small_estimator(directory / "run"), small_training(endless, {seen}), {},
                         {.executor =
                              [&](task t) {
                                std::lock_guard lock{guard};
                                kept.push_back(std::move(t));
                                posted.notify_one();
                              },
                          .executor_deadline = 1h});
    REQUIRE(running.has_value());
    std::unique_lock lock{guard};
    REQUIRE(posted.wait_for(lock, soon, [&] { return !kept.empty(); }));
  }  // A wait here would last an hour.
  for (const auto& t : kept)
    t();
  CHECK(seen->calls.empty());
}

}  // namespace troupe::test
