// Sessions whose nodes die, in simulated worlds: runs that are made again, their results, and the state in the end.
#include "actors/chief/decisions.hpp"
#include "support/ended_jobs.hpp"
#include "support/simulated_session.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using kind = job_event::kind;
using namespace std::chrono_literals;

struct watching final : hook {
  needs begin(int64_t step) override { return {.steps = {{.first = step + 1, .every = 1}}}; }
};

}  // namespace

TEST_CASE(
    "[SUP-18] a run in which a node dies is asked for again, begin is not repeated, and the session is created twice") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    texts book;
    const auto h = std::make_shared<signing_hook>("A", book);
    const small_job_options o{.max_steps = 5, .save_steps = 1, .hooks = {h}, .recovers = 10};
    simulated_session s{o, seed};
    int64_t runs = 0;
    h->before = [&](int64_t step, job_control&) {
      if (step == 2 && std::ssize(h->asked) == 3)
        s.kill("replica/0");
    };
    while (!s->should_stop()) {
      const auto made = s.run(1, {"loss"});
      CHECK(made.step == ++runs);
      CHECK(made.recoveries == (runs == 3 ? 1 : 0));
      CHECK(made.values.contains("loss"));
    }
    CHECK(runs == 5);
    for (const auto& again : {h->asked[2], h->asked[3]}) {
      CHECK(again.begins == 2);
      CHECK(again.until == 3);
      CHECK(again.asked.fetches == texts{"loss"});
    }
    CHECK(std::ssize(h->asked) == runs + 1);
    CHECK(std::ssize(h->seen) == runs);
    CHECK(std::count(book.begin(), book.end(), "begin 0 A") == 1);
    CHECK(std::count_if(book.begin(), book.end(), [](const std::string& x) { return x.starts_with("create"); }) == 2);
    s.close();
  }
}

TEST_CASE(
    "[SUP-22] of 10 steps with a recovery at 6 to the checkpoint of 5 six and five runs are made, and the last state "
    "is "
    "that of 10") {
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    CAPTURE(seed);
    small_job_options o{.save_steps = 5, .recovers = 10};
    auto description = describe_small(o);
    description.max_steps.reset();
    description.steps = 10;
    simulated_session s{description, seed};
    int64_t runs = 0;
    for (; !s->should_stop(); ++runs) {
      const auto made = s.run();
      CHECK(made.steps_run == 1);
      CHECK(made.steps_taken_back == (runs == 6 ? 1 : 0));
      if (made.step == 6 && runs == 5) {
        REQUIRE(s.crank_until([&] { return s->progress().committed_step == 5; }));
        REQUIRE(s.kill("replica/0"));
      }
    }
    CHECK(runs == 6 + 5);
    CHECK(s.recoveries() == 1);
    CHECK(s.close().global_step == 10);
  }
}

TEST_CASE("three deaths of a replica in a session, at any turn, give the bits of an undisturbed one") {
  const small_job_options whole{.max_steps = 20, .save_steps = 3, .replicas = 2, .recovers = 10};
  const auto state = undisturbed(whole);
  int64_t interrupted = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    auto o = whole;
    o.files = memory_disk::make();
    simulated_session s{o, seed};
    uint64_t drawn = seed * 2654435761u;
    int64_t messages = 0, next = 50 + static_cast<int64_t>(drawn % 100), deaths = 0;
    s.watch([&](const std::string&, const std::string&, const caf::type_erased_tuple&) {
      if (deaths == 3 || ++messages < next)
        return;
      ++deaths;
      drawn = drawn * 6364136223846793005u + 1442695040888963407u;
      next = messages + 100 + static_cast<int64_t>(drawn >> 33) % 200;
      s.kill("replica/" + std::to_string(deaths % 2));
    });
    int64_t stood = 0, taken_back = 0;
    for (int64_t steps = 1; !s->should_stop(); steps = steps % 5 + 1) {
      const auto made = s.run(steps);
      CHECK(made.steps_taken_back >= 0);
      CHECK(made.step <= 20);
      CHECK(made.step == std::min<int64_t>(20, stood - made.steps_taken_back + steps));
      stood = made.step;
      taken_back += made.steps_taken_back;
      interrupted += made.recoveries;
    }
    s.watch({});
    CHECK(s.close().global_step == 20);
    CHECK(same_state(newest_checkpoint(o.files).content, state));
  }
  CHECK(interrupted > 60);
}

TEST_CASE(
    "a run that has passed the checkpoint to which the job recovers goes on to its end, and is not asked for again") {
  texts book;
  const auto h = std::make_shared<signing_hook>("A", book);
  const small_job_options o{.max_steps = 200, .save_steps = 50, .hooks = {h}, .recovers = 10};
  simulated_session s{o};
  s.run(10);
  bool killed = false;
  s.watch([&](const std::string&, const std::string&, const caf::type_erased_tuple&) {
    if (!killed && s->progress().committed_step == 50 && s->progress().step > 60) {
      killed = true;
      s.kill("replica/0");
    }
  });
  const auto made = s.run(120);
  CHECK(killed);
  CHECK(made.step == 130);
  CHECK(made.steps_run == 120);
  CHECK(made.steps_taken_back == 0);
  CHECK(made.recoveries == 1);
  CHECK(h->asked.size() == 2);
  CHECK(h->seen.size() == 2);
  s.watch({});
  s.close();
}

TEST_CASE("a run whose last state is saved before the job recovers returns the values of that state") {
  const small_job_options whole{.max_steps = 40, .save_steps = 1, .recovers = 10};
  const auto losses = [&] {
    simulated_session s{whole};
    std::map<int64_t, tensor> all;
    while (!s->should_stop()) {
      const auto made = s.run(4, {"loss"});
      all[made.step] = made.values.at("loss");
    }
    return all;
  }();
  int64_t ended_there = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    auto o = whole;
    o.files = memory_disk::make();
    o.hooks = {std::make_shared<watching>()};
    simulated_session s{o, seed};
    s.slow_down("callbacks", 100);  // The run does not end before it has heard of the last state.
    int64_t until = 0, messages = 0;
    s.watch([&](const std::string&, const std::string&, const caf::type_erased_tuple&) {
      if (s->progress().committed_step == until && ++messages == 1 + static_cast<int64_t>(seed % 5))
        s.kill("replica/0");
    });
    while (!s->should_stop()) {
      until = s->progress().step + 4, messages = 0;
      const auto made = s.run(4, {"loss"});
      CHECK(made.steps_run == 4);
      REQUIRE(made.values.contains("loss"));
      CHECK(made.values.at("loss") == losses.at(made.step));
      ended_there += made.recoveries > 0 && made.step == until ? 1 : 0;
    }
    s.watch({});
    s.close();
  }
  CHECK(ended_there > 10);
}

TEST_CASE("a node that dies while the caller is away is made good, and the next run says how far the job went back") {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    const small_job_options o{.max_steps = 200, .save_steps = 5, .recovers = 10};
    simulated_session s{o, seed};
    CHECK(s.run(8).step == 8);
    REQUIRE(s.crank_until([&] { return s->progress().committed_step == 5; }));
    REQUIRE(s.kill("infeed/0"));
    for (int turn = 0; turn < 2000; ++turn) {
      s.crank();
      s.pass(1min);
    }
    CHECK(s.recoveries() == 1);
    CHECK(s->progress().step == 5);
    const auto made = s.run(2);
    CHECK(made.step == 7);
    CHECK(made.steps_taken_back == 3);
    CHECK(made.recoveries == 1);
    CHECK(s.run(2).steps_taken_back == 0);
    s.close();
  }
}

TEST_CASE("a death while a state is saved leaves a checkpoint that the save names") {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    const small_job_options o{.max_steps = 200, .save_steps = 1000, .recovers = 10};
    simulated_session s{o, seed};
    s.run(8);
    s.kill("replica/0");
    const auto saved = s->save();
    REQUIRE_MESSAGE(saved, (saved ? "" : to_text(saved.error())));
    CHECK((*saved == "/run/model.ckpt-8" || *saved == "/run/model.ckpt-0"));
    s.close();
  }
}

TEST_CASE("[SUP-20] an error beside the runs is told by the next run and at the close; a preemption is a recovery") {
  const small_job_options o{.max_steps = 200, .save_steps = 5, .recovers = 10};
  SUBCASE("not found") {
    simulated_session s{o};
    s.run(2);
    REQUIRE(s->beside().request_stop(error{errc::not_found, "no such table"}));
    CHECK(s->should_stop());
    const auto next = s->run();
    REQUIRE_FALSE(next);
    CHECK(next.error().message == "no such table");
    const auto closed = s->close();
    REQUIRE_FALSE(closed);
    CHECK(closed.error().category == errc::not_found);
    CHECK(newest_checkpoint(o.files).content.id.step == 2);
  }
  SUBCASE("aborted") {
    for (const bool by_run : {true, false}) {
      small_job_options p = o;
      p.files = memory_disk::make();
      simulated_session s{p};
      s.run(7);
      REQUIRE(s.crank_until([&] { return s->progress().committed_step == 5; }));
      REQUIRE(s->beside().request_stop(error{errc::aborted, "the feeder was preempted"}));
      if (!by_run)
        CHECK_FALSE(s->should_stop());
      const auto made = s.run();
      CHECK(made.step == 6);
      CHECK(made.steps_taken_back == 2);
      CHECK(made.recoveries == 1);
      CHECK_FALSE(s->beside().should_stop());
      CHECK(s.recoveries() == 1);
      s.close();
    }
  }
}

TEST_CASE("[SUP-25] a session that may not recover fails with what killed its node, and its save needs no hook") {
  const small_job_options o{.max_steps = 200, .save_steps = 100, .recovers = 0};
  simulated_session s{o};
  s.run(3);
  CHECK(*s->save() == "/run/model.ckpt-3");
  CHECK(newest_checkpoint(o.files).content.id.step == 3);
  s.kill("replica/0");
  const auto made = s->run();
  REQUIRE_FALSE(made);
  CHECK(made.error().category == errc::aborted);
  CHECK(s->should_stop());
  CHECK_FALSE(s->close());
}

TEST_CASE("a session that dies again and again without progress fails once its budget is spent") {
  simulated_session s{small_job_options{.max_steps = 200, .save_steps = 100, .recovers = 3}};
  bool kills = false;
  s.watch([&](const std::string& from, const std::string& to, const caf::type_erased_tuple&) {
    if (from == "infeed/0" && to == "replica/0" && !std::exchange(kills, true))  // The kill is a message, too.
      kills = s.kill("replica/0") && false;
  });
  const auto made = s->run();
  REQUIRE_FALSE(made);
  s.watch({});
  CHECK(s->should_stop());
  CHECK_FALSE(s->close());
  CHECK(s.recoveries() == 3);
}

TEST_CASE("a hook that does not return from before_run, or from after_run, fails the session in time") {
  for (const bool before : {true, false}) {
    CAPTURE(before);
    texts book;
    const auto h = std::make_shared<signing_hook>("A", book);
    simulated_session s{small_job_options{.max_steps = 200, .hooks = {h}}};
    (before ? h->before : h->after) = [&](int64_t, job_control&) { s.hang("callbacks"); };
    const auto made = s->run();
    const auto late = before ? made : s->run();  // The call itself has returned: the next one is not made.
    REQUIRE_FALSE(late);
    CHECK(late.error().category == errc::deadline_exceeded);
    s.unhang("callbacks");
  }
}

TEST_CASE("an exception of a run hook fails the session, and hooks after it are not called") {
  for (const bool before : {true, false}) {
    CAPTURE(before);
    texts book;
    const auto a = std::make_shared<signing_hook>("A", book), b = std::make_shared<signing_hook>("B", book);
    (before ? a->before : a->after) = [](int64_t, job_control&) { throw std::runtime_error("no"); };
    const small_job_options o{.max_steps = 200, .hooks = {a, b}};
    simulated_session s{o};
    const auto made = s->run();
    CHECK(b->seen.empty());
    CHECK(b->asked.size() == (before ? 0 : 1));
    const auto closed = s->close();
    REQUIRE_FALSE(closed);
    CHECK(closed.error().category == errc::state);
    CHECK(newest_checkpoint(o.files).content.id.step == (before ? 0 : 1));
  }
}

TEST_CASE(
    "whichever node of a session dies at any message, it ends with the bits of an undisturbed one or with an error "
    "that names the node, and the chief forgets nothing") {
  const small_job_options whole{.max_steps = 12, .save_steps = 4, .replicas = 2, .recovers = 10};
  const auto state = undisturbed(whole);
  int64_t died = 0, failed = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    CAPTURE(seed);
    texts book;
    auto o = whole;
    o.files = memory_disk::make();
    o.hooks = {std::make_shared<signing_hook>("A", book, run_arguments{.fetches = {"loss"}})};
    const std::string nodes[] = {"infeed/0",          "replica/1",      "outfeed",
                                 "checkpoint_writer", "summary_writer", "callbacks"};
    const auto& victim = nodes[seed % std::size(nodes)];
    simulated_session s{o, seed};
    int64_t left = static_cast<int64_t>(seed * 2654435761u % 400);
    s.watch([&](const std::string&, const std::string&, const caf::type_erased_tuple&) {
      if (left > 0 && --left == 0)
        died += s.kill(victim) ? 1 : 0;
    });
    bool fails = false;
    for (int64_t steps = 1; !fails && !s->should_stop(); steps = steps % 3 + 1) {
      const auto made = s->run({.what = {.fetches = {"loss"}}, .steps = steps});
      fails = !made;
      if (made)
        CHECK(made->values.contains("loss"));
      if (made && steps == 2 && !s->should_stop())
        fails = !s->save();
    }
    const auto result = s->close();
    s.watch({});
    CHECK(s.left().empty());
    CHECK((result || result.error().message.find(victim) != std::string::npos));
    if (result)
      CHECK(same_state(newest_checkpoint(o.files).content, state));
    else
      ++failed;
    for (const auto& e : s.events())
      CHECK_FALSE((e.what == kind::warning && e.text == forgotten_text));
  }
  CHECK(died > 80);
  CHECK(failed > 20);
  CHECK(failed < died);
}

TEST_CASE(
    "a stop at any message of a session ends the run at hand at a state that is saved, and the chief forgets nothing") {
  for (uint64_t seed = 1; seed <= 100; ++seed) {
    CAPTURE(seed);
    texts book;
    small_job_options o{
        .max_steps = 500, .save_steps = 4, .hooks = {std::make_shared<signing_hook>("A", book)}, .recovers = 10};
    if (seed % 2 == 0)  // The values of the last state may have been told before the stop.
      o.hooks.push_back(std::make_shared<watching>());
    simulated_session s{o, seed};
    int64_t left = 1 + static_cast<int64_t>(seed * 2654435761u % 300);
    s.watch([&](const std::string&, const std::string&, const caf::type_erased_tuple&) {
      if (left > 0 && --left == 0)
        s->request_stop();
    });
    int64_t stands = 0;
    while (!s->should_stop())
      if (const auto made = s->run({.what = {.fetches = {"loss"}}, .steps = 7})) {
        stands = made->step;
        CHECK(made->values.contains("loss") == (made->steps_run > 0));
      } else {
        CHECK(made.error().category == errc::state);
      }
    CHECK(s.close().global_step == stands);
    CHECK(newest_checkpoint(o.files).content.id.step == stands);
    CHECK(book.back() == "end " + std::to_string(stands) + " A");
    for (const auto& e : s.events())
      CHECK_FALSE((e.what == kind::warning && e.text == forgotten_text));
  }
}

}  // namespace troupe::test
