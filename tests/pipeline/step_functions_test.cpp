// Step functions of a session, in simulated worlds.
#include "support/simulated_session.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

using namespace std::chrono_literals;

TEST_CASE("[SUP-24] a step function that asks to stop ends cleanly, and one that is interrupted is called again") {
  small_job_options o{.max_steps = 20, .save_steps = 1, .recovers = 10};
  SUBCASE("a stop") {
    simulated_session s{o};
    const auto done = s->run_step_fn([](step_context& step) -> expected<void> {
      CHECK(step.run()->step == 1);
      step.request_stop();
      const auto after = step.run();
      REQUIRE_FALSE(after);
      return fail(after.error());
    });
    CHECK(done);
    CHECK(s->should_stop());
    CHECK(s.close().global_step == 1);
  }
  SUBCASE("an interruption") {
    for (uint64_t seed = 1; seed <= 10; ++seed) {
      o.files = memory_disk::make();
      simulated_session s{o, seed};
      s.run(2);
      int calls = 0;
      const auto done = s->run_step_fn([&](step_context& step) -> expected<void> {
        ++calls;
        if (calls == 1)
          s.kill("replica/0");
        return step.run({.steps = 2}).map([](const run_result&) {});
      });
      CHECK(done);
      CHECK(calls == 2);
      CHECK(s->progress().step >= 4);
      s.close();
    }
  }
  SUBCASE("an interruption between two of its runs") {
    for (const bool by_save : {false, true}) {
      o.files = memory_disk::make();
      o.save_steps = 1000;
      simulated_session s{o};
      int calls = 0;
      std::vector<int64_t> seen;
      const auto done = s->run_step_fn([&](step_context& step) -> expected<void> {
        const auto first = step.run({.steps = 2});
        REQUIRE_MESSAGE(first, (first ? "" : to_text(first.error())));
        seen.push_back(first->step);
        if (++calls == 1) {
          REQUIRE(s->beside().request_stop(error{errc::aborted, "the feeder was preempted"}));
          if (by_save)
            REQUIRE(s->save());
        }
        const auto second = step.run();
        if (!second) {
          CHECK(second.error().category == errc::aborted);
          CHECK(second.error().message == "the job went back to step 0");
          return fail(second.error());
        }
        seen.push_back(second->step);
        return {};
      });
      CHECK(done);
      CHECK(calls == 2);
      CHECK_MESSAGE((seen == std::vector<int64_t>{2, 2, 3}), "both runs of the second call are of one history");
      s.close();
    }
  }
  SUBCASE("a recovery before it") {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      o.files = memory_disk::make();
      simulated_session s{o, seed};
      s.run(2);
      s.kill("replica/0");
      for (int turn = 0; turn < 2000; ++turn) {
        s.crank();
        s.pass(1min);
      }
      int calls = 0;
      const auto done = s->run_step_fn([&](step_context& step) -> expected<void> {
        ++calls;
        const auto made = step.run();
        REQUIRE(made);
        CHECK(made->recoveries == 1);
        return step.run().map([](const run_result&) {});
      });
      CHECK(done);
      CHECK(calls == 1);
      s.close();
    }
  }
  SUBCASE("without the calls of hooks") {
    texts book;
    o.hooks = {std::make_shared<signing_hook>("A", book)};
    simulated_session s{o};
    CHECK(s->run_step_fn([](step_context& step) { return step.run_alone().map([](const run_result&) {}); }));
    CHECK(book == texts{"begin 0 A", "create 0 A"});
    s.close();
  }
}

TEST_CASE("a step function that throws is an error that names it, and an empty one is refused") {
  small_job_options o{.max_steps = 20};
  simulated_session s{o};
  for (const bool stops : {false, true}) {
    const auto thrown = s->run_step_fn([&](step_context& step) -> expected<void> {
      if (stops)
        step.request_stop();
      throw std::runtime_error("no");
    });
    REQUIRE_FALSE(thrown);
    CHECK(thrown.error() == error{errc::state, "an exception left the step function: no"});
  }
  const auto empty = s->run_step_fn({});
  REQUIRE_FALSE(empty);
  CHECK(empty.error() == error{errc::invalid_argument, "the step function is an empty function"});
  s.close();
}

}  // namespace troupe::test
