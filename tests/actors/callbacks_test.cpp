#include "actors/callbacks.hpp"

#include "support/simulation.hpp"
#include "words/guarded.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace troupe::test {

namespace {

/// Records every call, requests the steps that a test sets, and throws in the call `throws_in`.
struct spy : hook {
  std::vector<need> wants;
  std::vector<trace_need> traces;
  std::string throws_in, as;
  bool asks_to_stop = false;
  std::vector<std::string> calls;
  held_facts holds;
  std::map<std::string, tensor> seen;
  std::vector<std::string>* calls_too = nullptr;  ///< Shared by several hooks, to show the order of their calls.

  void note(const std::string& what, int64_t step) {
    calls.push_back(as + what + " " + std::to_string(step));
    if (calls_too)
      calls_too->push_back(calls.back());
    if (what == throws_in)
      throw std::runtime_error("out of patience");
  }
  needs begin(int64_t step) override {
    note("begin", step);
    return {.steps = wants, .holds = holds, .traces = traces};
  }
  void on_step(const step_facts& facts, job_control& job) override {
    seen = facts.values;
    note("at", facts.step);
    if (asks_to_stop)
      job.stop();
  }
  void on_event(const job_event& event, job_control& job) override {
    note("event", event.step);
    if (asks_to_stop)
      job.save();
  }
  void end(int64_t step) override { note("end", step); }
  void on_abort(const error& cause) override { note("abort", cause.step.value_or(-1)); }
};

struct callbacks_alone : simulation {
  std::shared_ptr<spy> first = std::make_shared<spy>(), second = std::make_shared<spy>();
  recorder<hooks_ready, answered, hooks_ended, failure, request>
      chief = record<hooks_ready, answered, hooks_ended, failure, request>();
  callbacks_actor hooks;

  callbacks_alone() {
    first->wants = {{.first = 5, .every = 5}, {.first = 7, .gate = true}};
    second->wants = {{.first = 5, .every = 10}};
    second->holds.evaluated = true;
  }
  void start(int64_t step = 0) {
    hooks = spawn(callbacks, callbacks_options{.hooks = {first, second}}, chief.as<hook_listener_actor>());
    tell(hooks, name_values{{"loss", "accuracy/total"}, {}});
    tell(hooks, fact{.what = fact::begin_at, .at = step});
  }
  void reach(int64_t step, bool gate = false, uint64_t number = 0) {
    tell(hooks, fact{.what = fact::step,
                     .values = {step, {tensor::scalar(0.5f), tensor::scalar(3.0f)}},
                     .at = step,
                     .gate = gate,
                     .number = number});
  }
  /// As `start`, after forgetting the earlier calls of hooks and messages to the chief.
  void begin_anew() {
    first->calls.clear();
    second->calls.clear();
    chief = record<hooks_ready, answered, hooks_ended, failure, request>();
    start();
  }
  void finish() {
    tell(hooks, fact{.what = fact::end_at, .news = {.what = job_event::kind::finished, .step = 9}, .at = 9});
  }
  void abort() {
    tell(hooks, fact{.what = fact::end_at,
                     .news = {.what = job_event::kind::failed,
                              .step = 9,
                              .failure = error{errc::nan_loss, "no", {}, "replica/0", 8}},
                     .at = 9});
  }
  void event(int64_t step) { tell(hooks, fact{.what = fact::event, .news = {.step = step}, .at = step}); }
};

using calls = std::vector<std::string>;

error thrown_by_hook(const std::string& call, int index, int64_t step) {
  return {errc::state,
          "an exception left " + call + " of hooks[" + std::to_string(index) + "] (" + type_name(typeid(spy))
              + "): out of patience",
          {},
          "callbacks",
          step};
}

}  // namespace

TEST_CASE_FIXTURE(callbacks_alone, "the needs of all hooks are sent once, when they have begun") {
  start(3);
  REQUIRE(chief.order() == order_of<hooks_ready>());
  const auto& ready = chief.last<hooks_ready>();
  REQUIRE(ready.steps.size() == 3);
  CHECK(ready.steps[0].first == 5);
  CHECK(ready.steps[1].gate);
  CHECK(ready.steps[2].every == 10);
  CHECK(ready.holds.evaluated);
  CHECK_FALSE(ready.holds.saved);
  CHECK(first->calls == calls{"begin 3"});
}

TEST_CASE_FIXTURE(callbacks_alone, "a need that cannot be met is an error that names hook, field and value") {
  std::vector<std::string> wrong;
  const auto refused = [&] {
    begin_anew();
    wrong.clear();
    for (const auto& x : chief.all<failure>()) {
      CHECK(x.what.category == errc::invalid_argument);
      wrong.push_back(x.what.message);
    }
    return wrong;
  };
  const auto who = "hooks[0] (" + type_name(typeid(spy)) + ") asks for ";
  first->wants = {{.first = 0}, {.first = -5, .every = -2}};
  CHECK(refused()
        == calls{who + "steps[1].first = -5, which must be at least 0",
                 who + "steps[1].every = -2, which must be at least 0"});
  first->wants = {};
  first->traces = {{.first = 0}, {.first = -1, .steps = 0, .every = -4}};
  CHECK(refused()
        == calls{who + "traces[1].first = -1, which must be at least 0",
                 who + "traces[1].steps = 0, which must be at least 1",
                 who + "traces[1].every = -4, which must be at least 0"});
  first->traces = {};
  CHECK(refused().empty());
}

TEST_CASE_FIXTURE(callbacks_alone, "a hook sees the steps that it asked for, and no others") {
  start();
  for (int64_t s : {5, 7, 10, 15})
    reach(s);
  CHECK(first->calls == calls{"begin 0", "at 5", "at 7", "at 10", "at 15"});
  CHECK(second->calls == calls{"begin 0", "at 5", "at 15"});
  CHECK(second->seen.at("loss") == tensor::scalar(0.5f));
  CHECK(second->seen.at("accuracy/total") == tensor::scalar(3.0f));
}

TEST_CASE_FIXTURE(callbacks_alone,
                  "every fact is answered by its number when its hooks have returned, whatever they did") {
  second->throws_in = "at";
  start();
  reach(5, false, 11);
  CHECK(chief.order() == order_of<hooks_ready, failure, answered>());
  CHECK(chief.last<answered>().number == 11);
  CHECK(chief.last<answered>().step == 5);
  CHECK_FALSE(chief.last<answered>().gate);
  reach(7, true, 12);
  CHECK(chief.last<answered>().number == 12);
  CHECK(chief.last<answered>().gate);
  tell(hooks, fact{.what = fact::event, .news = {.step = 8}, .at = 8, .number = 13});
  CHECK(chief.last<answered>().number == 13);
  CHECK_FALSE(chief.last<answered>().gate);
  tell(hooks,
       fact{.what = fact::end_at, .news = {.what = job_event::kind::finished, .step = 9}, .at = 9, .number = 14});
  CHECK(chief.last<hooks_ended>().number == 14);
  CHECK(chief.count<answered>() == 3);
}

TEST_CASE_FIXTURE(callbacks_alone, "a gate is answered after its hooks have returned") {
  first->asks_to_stop = true;
  start();
  reach(7, true);
  CHECK(chief.order() == order_of<hooks_ready, request, answered>());
  CHECK(chief.last<answered>().step == 7);
  CHECK(chief.last<request>().what == request::stop);
}

TEST_CASE_FIXTURE(callbacks_alone, "values of the first state are shown as none") {
  first->wants = {{.first = 0}};
  start();
  tell(hooks, fact{.what = fact::step, .values = {0, {}}, .at = 0});
  CHECK(first->calls == calls{"begin 0", "at 0"});
  CHECK(first->seen.empty());
}

TEST_CASE_FIXTURE(callbacks_alone, "events reach every hook, and may ask for a checkpoint") {
  second->asks_to_stop = true;
  start();
  event(12);
  CHECK(first->calls.back() == "event 12");
  CHECK(second->calls.back() == "event 12");
  CHECK(chief.last<request>().what == request::save);
}

TEST_CASE_FIXTURE(callbacks_alone,
                  "an exception that leaves a hook is a failure of the job, and gates are answered all the same") {
  start();
  SUBCASE("at a step") {
    first->throws_in = "at";
    reach(7, true);
    CHECK(chief.order() == order_of<hooks_ready, failure, answered>());
    CHECK(chief.last<failure>().what == thrown_by_hook("on_step()", 0, 7));
  }
  SUBCASE("at an event") {
    second->throws_in = "event";
    event(4);
    CHECK(chief.order() == order_of<hooks_ready, failure, answered>());
    event(5);
    CHECK_MESSAGE(chief.count<failure>() == 2, "the actor lives on");
  }
  SUBCASE("while beginning, and steps are asked of no hook that had not begun") {
    first->throws_in = "begin";
    begin_anew();
    CHECK(chief.order() == order_of<failure, hooks_ready>());
    CHECK(chief.last<failure>().what == thrown_by_hook("begin()", 0, 0));
    CHECK_MESSAGE(chief.last<hooks_ready>().steps.size() == 1, "those of the other hook");
    reach(7);
    CHECK(first->calls == calls{"begin 0"});
  }
}

TEST_CASE_FIXTURE(
    callbacks_alone,
    "an exception of one hook keeps no other from being called, and each is a failure of its own that names its hook") {
  start();
  SUBCASE("at a step") {
    first->throws_in = "at";
    reach(5);
    CHECK(second->calls == calls{"begin 0", "at 5"});
    CHECK(chief.order() == order_of<hooks_ready, failure, answered>());
  }
  SUBCASE("at an event") {
    first->throws_in = second->throws_in = "event";
    event(4);
    CHECK(second->calls == calls{"begin 0", "event 4"});
    REQUIRE(chief.order() == order_of<hooks_ready, failure, failure, answered>());
    CHECK(chief.all<failure>()[0].what == thrown_by_hook("on_event()", 0, 4));
    CHECK(chief.all<failure>()[1].what == thrown_by_hook("on_event()", 1, 4));
  }
  SUBCASE("while beginning") {
    first->throws_in = "begin";
    begin_anew();
    CHECK(second->calls == calls{"begin 0"});
    reach(5);
    CHECK(second->calls.back() == "at 5");
  }
  SUBCASE("at the end") {
    first->throws_in = "end";
    finish();
    CHECK(second->calls == calls{"begin 0", "event 9", "end 9"});
    CHECK(chief.order() == order_of<hooks_ready, failure, hooks_ended>());
    CHECK(chief.last<failure>().what == thrown_by_hook("end()", 0, 9));
  }
  SUBCASE("at the end's event") {
    first->throws_in = "event";
    finish();
    CHECK_MESSAGE((first->calls == calls{"begin 0", "event 9", "abort 9"}),
                  "the job has failed before end() could be called");
    CHECK(second->calls == calls{"begin 0", "event 9", "abort 9"});
  }
  SUBCASE("at an abort") {
    second->throws_in = "abort";
    abort();
    CHECK(first->calls == calls{"begin 0", "event 9", "abort 8"});
    CHECK(chief.last<failure>().what == thrown_by_hook("on_abort()", 1, 9));
  }
}

TEST_CASE_FIXTURE(callbacks_alone,
                  "an abort is told in the opposite order, and only to those whose begin has returned") {
  second->calls_too = &first->calls;
  first->as = "A ";
  second->as = "B ";
  SUBCASE("to all of them") {
    start();
    abort();
    CHECK(first->calls == calls{"A begin 0", "B begin 0", "A event 9", "B event 9", "B abort 8", "A abort 8"});
  }
  SUBCASE("not to one whose begin threw") {
    first->throws_in = "begin";
    start();
    abort();
    CHECK(first->calls == calls{"A begin 0", "B begin 0", "B event 9", "B abort 8"});
  }
  SUBCASE("to none where the job failed before they began") {
    hooks = spawn(callbacks, callbacks_options{.hooks = {first, second}}, chief.as<hook_listener_actor>());
    abort();
    CHECK_MESSAGE(first->calls.empty(), "nothing is shown to a hook that has not begun");
  }
}

TEST_CASE_FIXTURE(callbacks_alone, "facts that arrive after the end are shown to no hook, and answered all the same") {
  start();
  abort();
  const auto before = first->calls;
  reach(10, true, 17);
  event(11);
  abort();
  CHECK(first->calls == before);
  CHECK(chief.count<answered>() == 2);
  CHECK(chief.count<hooks_ended>() == 2);
  CHECK(chief.all<answered>()[0].number == 17);
  CHECK(chief.all<answered>()[0].gate);
  CHECK(chief.count<failure>() == 0);
}

TEST_CASE_FIXTURE(callbacks_alone,
                  "hooks that are called no more and so do not hear of a clean end are a failure of the job") {
  const auto hook_thread = std::make_shared<hook_calls>();
  hooks = spawn(callbacks, callbacks_options{.hooks = {first}, .hook_thread = hook_thread},
                chief.as<hook_listener_actor>());
  tell(hooks, fact{.what = fact::begin_at, .at = 0});
  hook_thread->withdraw();
  SUBCASE("of a clean one") {
    finish();
    CHECK(chief.order() == order_of<hooks_ready, failure, hooks_ended>());
    CHECK(chief.last<failure>().what
          == error{errc::state, "end() of the hooks was not called: no hook is called any more", {}, "callbacks", 9});
  }
  SUBCASE("but not of one that failed anyway") {
    abort();
    CHECK(chief.order() == order_of<hooks_ready, hooks_ended>());
  }
}

TEST_CASE_FIXTURE(callbacks_alone, "the log hears of every event before the hooks do, and of nothing else") {
  const auto log = std::make_shared<spy>();
  hooks = spawn(callbacks, callbacks_options{.hooks = {first}, .log = log}, chief.as<hook_listener_actor>());
  tell(hooks, name_values{{"loss"}, {}});
  first->calls_too = &log->calls;
  tell(hooks, fact{.what = fact::begin_at, .at = 0});
  reach(5);
  event(5);
  tell(hooks, fact{.what = fact::end_at, .news = {.what = job_event::kind::finished, .step = 9}, .at = 9});
  CHECK(log->calls == calls{"begin 0", "at 5", "event 5", "event 5", "event 9", "event 9", "end 9"});
  CHECK(first->calls == calls{"begin 0", "at 5", "event 5", "event 9", "end 9"});
}

TEST_CASE_FIXTURE(callbacks_alone, "an exception that leaves the log is a failure of the job that names it") {
  const auto log = std::make_shared<spy>();
  log->throws_in = "event";
  hooks = spawn(callbacks, callbacks_options{.log = log}, chief.as<hook_listener_actor>());
  tell(hooks, fact{.what = fact::event, .news = {.step = 4}, .at = 4});
  REQUIRE(chief.order() == order_of<failure, answered>());
  CHECK(chief.last<failure>().what
        == error{errc::state, "an exception left the job's logger: out of patience", {}, "callbacks", 4});
}

TEST_CASE_FIXTURE(callbacks_alone, "hooks are called on the thread that is said, and answers follow the call") {
  int posted = 0;
  auto hook_thread = std::make_shared<hook_calls>(
      [&](hook_calls::task task) {
        ++posted;
        task();
      },
      std::chrono::minutes{1});
  hooks = spawn(callbacks, callbacks_options{.hooks = {first, second}, .hook_thread = hook_thread},
                chief.as<hook_listener_actor>());
  tell(hooks, name_values{{"loss"}, {}});
  tell(hooks, fact{.what = fact::begin_at, .at = 0});
  reach(7, true);
  CHECK(posted == 2);
  CHECK(first->calls == calls{"begin 0", "at 7"});
  CHECK(chief.order() == order_of<hooks_ready, answered>());
  hook_thread->withdraw();
  reach(7, true);
  CHECK(first->calls.size() == 2);
  CHECK_MESSAGE(chief.count<answered>() == 2, "nobody waits for a hook that is not called any more");
}

TEST_CASE_FIXTURE(callbacks_alone, "the last call says whether the job ended cleanly") {
  start();
  SUBCASE("it did") {
    finish();
    CHECK(first->calls == calls{"begin 0", "event 9", "end 9"});
  }
  SUBCASE("it failed") {
    abort();
    CHECK(second->calls == calls{"begin 0", "event 9", "abort 8"});
  }
  CHECK(chief.count<hooks_ended>() == 1);
}

}  // namespace troupe::test
