#include "actors/hook_calls.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <deque>
#include <stdexcept>
#include <thread>

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

/// Keeps the posted tasks for the test to run.
struct kept_tasks {
  std::deque<hook_calls::task> tasks;
  hook_calls::executor executor() {
    return [this](hook_calls::task t) { tasks.push_back(std::move(t)); };
  }
};

}  // namespace

TEST_CASE("without an executor a call happens at once, on the thread that asks, and what it throws is an error") {
  hook_calls hook_thread;
  std::thread::id where;
  CHECK(hook_thread.call([&] { where = std::this_thread::get_id(); }).has_value());
  CHECK(where == std::this_thread::get_id());
  const auto thrown = hook_thread.call([] { throw std::runtime_error{"no"}; });
  REQUIRE_FALSE(thrown.has_value());
  CHECK(thrown.error() == error{errc::state, "an exception left a hook: no"});
  CHECK(hook_thread.call([] { throw 1; }).error() == error{errc::state, "an exception left a hook"});
}

TEST_CASE("with an executor a call returns after the task has run on the executor's thread, with what it threw") {
  std::vector<std::jthread> threads;
  std::thread::id where;
  hook_calls hook_thread{[&](hook_calls::task t) { threads.emplace_back(std::move(t)); }, 1min};
  CHECK(hook_thread.call([&] { where = std::this_thread::get_id(); }).has_value());
  REQUIRE(threads.size() == 1);
  CHECK(where == threads[0].get_id());
  CHECK(hook_thread.call([] { throw std::runtime_error{"no"}; }).error().message == "an exception left a hook: no");
  CHECK(hook_thread.call([] {}).value());
}

TEST_CASE("a task that is run twice calls once") {
  int calls = 0;
  hook_calls hook_thread{[](const hook_calls::task& t) { t(), t(); }, 1min};
  CHECK(hook_thread.call([&] { ++calls; }).has_value());
  CHECK(calls == 1);
}

TEST_CASE(
    "an executor that never runs what it takes is named when the patience is over, and nothing is called after that") {
  kept_tasks kept;
  int calls = 0;
  hook_calls hook_thread{kept.executor(), 5ms};
  const auto late = hook_thread.call([&] { ++calls; });
  REQUIRE_FALSE(late.has_value());
  CHECK(late.error()
        == error{errc::deadline_exceeded,
                 "the executor of the hooks did not run a task within 5 ms; no hook is called any more"});
  REQUIRE(kept.tasks.size() == 1);
  kept.tasks[0]();  // Does nothing: its call has been given up.
  CHECK_FALSE(hook_thread.call([&] { ++calls; }).value());
  CHECK(kept.tasks.size() == 1);
  CHECK(calls == 0);
}

TEST_CASE("an executor that throws is named") {
  hook_calls hook_thread{[](const hook_calls::task&) { throw std::runtime_error{"closed"}; }, 1min};
  const auto thrown = hook_thread.call([] {});
  REQUIRE_FALSE(thrown.has_value());
  CHECK(thrown.error() == error{errc::state, "an exception left the executor of the hooks: closed"});
}

TEST_CASE("an executor that runs the task and throws then has run it") {
  hook_calls hook_thread{[](const hook_calls::task& t) {
                           t();
                           throw std::runtime_error{"closed"};
                         },
                         1min};
  int calls = 0;
  CHECK(hook_thread.call([&] { ++calls; }).has_value());
  CHECK(calls == 1);
}

TEST_CASE("withdrawing frees who waits for a task that nobody has begun, and nothing is posted after it") {
  kept_tasks kept;
  int calls = 0;
  hook_calls hook_thread{[&](hook_calls::task t) {
                           kept.tasks.push_back(std::move(t));
                           hook_thread.withdraw();
                         },
                         1h};
  CHECK_FALSE(hook_thread.call([&] { ++calls; }).value());  // Returns at once, not after an hour.
  CHECK_FALSE(hook_thread.call([&] { ++calls; }).value());
  REQUIRE(kept.tasks.size() == 1);
  kept.tasks[0]();
  CHECK(calls == 0);
}

TEST_CASE(
    "withdrawing waits for nothing and interrupts nothing: a task that has begun is finished, and its caller waits for "
    "that") {
  std::atomic<bool> begun{false}, go_on{false}, done{false};
  std::jthread worker;
  hook_calls hook_thread{[&](hook_calls::task t) { worker = std::jthread{std::move(t)}; }, 1h};
  std::jthread other{[&] {
    begun.wait(false);
    hook_thread.withdraw();
    go_on = true;
    go_on.notify_all();
  }};
  CHECK(hook_thread
            .call([&] {
              begun = true;
              begun.notify_all();
              go_on.wait(false);
              done = true;
            })
            .has_value());
  CHECK(done);
}

}  // namespace troupe::test
