#include "actors/hook_calls.hpp"

#include "actors/hook_roll.hpp"
#include "actors/listener_roll.hpp"
#include "words/guarded.hpp"

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

struct ignored_requests final : job_control {
  void save() override {}
  void stop() override {}
};

/// Keeps the name under which each of its calls is known while it lasts, and throws in the second one.
struct named_in_calls final : hook {
  const current_call& now;
  std::vector<std::string> names;

  explicit named_in_calls(const current_call& n) : now(n) {}
  void note() {
    names.push_back(now.name());
    if (names.size() == 2)
      throw std::runtime_error{"enough"};
  }
  needs begin(int64_t) override {
    note();
    return {.steps = {{.first = 5}}};
  }
  void on_step(const step_facts&, job_control&) override { note(); }
  void on_event(const job_event&, job_control&) override { note(); }
};
struct named_in_saves final : saving_listener {
  named_in_calls& all;
  explicit named_in_saves(named_in_calls& a) : all(a) {}
  void before_save(int64_t) override { all.note(); }
};

}  // namespace

TEST_CASE("the call that a hook or a listener is in is known by its name, until it returns or throws") {
  hook_calls calls;
  ignored_requests job;
  const auto who = std::make_shared<named_in_calls>(calls.under_way);
  const auto type = " (" + type_name(typeid(named_in_calls)) + ")";
  hook_roll hooks{{who}};
  listener_roll listeners{{std::make_shared<named_in_saves>(*who)}};
  hooks.mark_in(&calls.under_way);
  listeners.mark_in(&calls.under_way);
  for (const auto what : {fact::begin_at, fact::step, fact::event, fact::saving}) {
    const fact x{.what = what, .at = 5};
    listeners.show(x, job);
    hooks.show(x, job);
    CHECK(calls.under_way.name().empty());
  }
  CHECK(who->names
        == std::vector<std::string>{
            "begin() of hooks[0]" + type, "on_step() of hooks[0]" + type, "on_event() of hooks[0]" + type,
            "before_save() of saving_listeners[0] (" + type_name(typeid(named_in_saves)) + ")"});
}

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
