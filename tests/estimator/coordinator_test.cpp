#include "tests/support/has.hpp"
#include "tests/support/virtual_time.hpp"

#include <doctest/doctest.h>

#include <latch>
#include <stdexcept>
#include <thread>

namespace troupe::test {

namespace {

using namespace std::chrono_literals;

error of(errc category, std::string message) { return {category, std::move(message)}; }

struct timed {
  std::shared_ptr<virtual_time> clock = std::make_shared<virtual_time>();
  coordinator c{{.clock = clock}};
};

}  // namespace

TEST_CASE("[SUP-29] the first of two errors is kept, and the end of data is none unless it is said to be one") {
  coordinator c;
  CHECK(c.request_stop(of(errc::not_found, "first")));
  CHECK(c.request_stop(of(errc::aborted, "second")));
  CHECK(c.should_stop());
  CHECK(c.requested_error()->message == "first");
  const auto ended = c.join();
  REQUIRE_FALSE(ended);
  CHECK(ended.error().category == errc::not_found);
  coordinator clean;
  CHECK(clean.request_stop(of(errc::out_of_range, "the data have ended")));
  CHECK(clean.should_stop());
  CHECK_FALSE(clean.requested_error());
  CHECK(clean.join());
  coordinator strict{{.clean = {}}};
  CHECK(strict.request_stop(of(errc::out_of_range, "the data have ended")));
  REQUIRE_FALSE(strict.join());
  CHECK(strict.requested_error()->category == errc::out_of_range);
}

TEST_CASE("an error after a plain stop is dropped: threads that are told to end often fail at that") {
  coordinator c;
  CHECK(c.request_stop());
  CHECK(c.request_stop(of(errc::cancelled, "late")));
  CHECK(c.join());
}

TEST_CASE("[SUP-30] an error after join is returned at once, and clear_stop makes a coordinator as new") {
  coordinator c;
  CHECK(c.request_stop());
  CHECK(c.join());
  const auto late = c.request_stop(of(errc::unavailable, "late"));
  REQUIRE_FALSE(late);
  CHECK(late.error().message == "late");
  CHECK(c.request_stop());
  CHECK(c.request_stop(of(errc::out_of_range, "an end")));
  c.clear_stop();
  CHECK_FALSE(c.should_stop());
  CHECK(c.request_stop(of(errc::unavailable, "again")));
  REQUIRE_FALSE(c.join());
  CHECK(c.requested_error()->message == "again");
}

TEST_CASE_FIXTURE(timed, "[SUP-31] who has not left 120 s after the stop is named, or a line; an error comes first") {
  const auto slow = c.enlist("slow"), other = c.enlist("other");
  CHECK(c.request_stop());
  const auto ended = c.join();
  REQUIRE_FALSE(ended);
  CHECK(ended.error().category == errc::state);
  CHECK(ended.error().message == "'slow', 'other' did not end within 120 s of the stop");
  CHECK(clock->seconds() == 120);
  c.clear_stop();
  std::string line;
  const auto again = c.enlist("again");
  CHECK(c.request_stop());
  CHECK(c.join({.grace = 5s, .ignore_live = true, .log = [&](const std::string& text) { line = text; }}));
  CHECK(line == "'again' did not end within 5 s of the stop");
  CHECK(clock->seconds() == 125);
  c.clear_stop();
  const auto unheard = c.enlist("unheard");
  CHECK(c.request_stop());
  CHECK(c.join({.grace = 5s, .ignore_live = true, .log = [](const std::string&) { throw std::runtime_error{"-"}; }}));
  c.clear_stop();
  const auto third = c.enlist("third");
  CHECK(c.request_stop(of(errc::not_found, "no file")));
  const auto failed = c.join();
  REQUIRE_FALSE(failed);
  CHECK(failed.error().message == "no file");
}

TEST_CASE("join waits for threads as long as nobody stops them, and a thread that fails stops the others") {
  coordinator c;
  std::latch both{2};
  std::vector<std::thread> threads;
  threads.emplace_back([c, &both, here = c.enlist("waits")]() mutable {
    both.arrive_and_wait();
    CHECK(c.wait_for_stop(60s));
    here.leave();
  });
  threads.emplace_back([c, &both, here = c.enlist("fails")]() mutable {
    both.arrive_and_wait();
    c.stop_on_error([]() -> expected<void> { throw std::runtime_error("broken"); });
    here.leave();
  });
  const auto ended = c.join();
  for (auto& t : threads)
    t.join();
  REQUIRE_FALSE(ended);
  CHECK(ended.error().category == errc::state);
  CHECK(has(ended.error().message, "broken"));
  coordinator calm;
  std::thread short_one{[calm, here = calm.enlist("short")]() mutable {
    calm.stop_on_error([] {});
    here = calm.enlist("and another");
  }};
  CHECK(calm.join());
  CHECK_FALSE(calm.should_stop());
  short_one.join();
}

TEST_CASE_FIXTURE(timed, "waiting for a stop that does not come takes its time and says so") {
  CHECK_FALSE(c.wait_for_stop(7s));
  CHECK(clock->seconds() == 7);
  CHECK(c.request_stop());
  CHECK(c.wait_for_stop(7s));
  CHECK(clock->seconds() == 7);
}

TEST_CASE_FIXTURE(timed, "[SUP-32] a loop every 10 s calls at 0, 10 and 20, and catches up after a call of 25 s") {
  std::vector<int64_t> calls;
  bool began = false, ended = false;
  const auto looped = c.loop(
      [&]() -> expected<void> {
        calls.push_back(clock->seconds());
        if (calls.size() == 3)
          clock->spend(25s);
        if (calls.size() == 7)
          return c.request_stop();
        return {};
      },
      {.every = 10s, .begin = [&] { began = calls.empty(); }, .end = [&] { ended = true; }});
  CHECK(looped);
  // That of 20 lasts to 45: those of 30 and 40 follow at once.
  CHECK((calls == std::vector<int64_t>{0, 10, 20, 45, 45, 50, 60}));
  CHECK(began);
  CHECK(ended);
}

TEST_CASE_FIXTURE(timed, "[SUP-32] a first call that lasts 25 s is followed by calls at 25, 25 and 30") {
  std::vector<int64_t> calls;
  CHECK(c.loop(
      [&]() -> expected<void> {
        calls.push_back(clock->seconds());
        if (calls.size() == 1)
          clock->spend(25s);
        return calls.size() == 4 ? c.request_stop() : expected<void>{};
      },
      {.every = 10s}));
  CHECK((calls == std::vector<int64_t>{0, 25, 25, 30}));
}

TEST_CASE_FIXTURE(timed, "[SUP-32] without an interval a loop calls back to back, and an error stops all") {
  int64_t calls = 0;
  bool ended = false;
  const auto looped = c.loop(
      [&]() -> expected<void> {
        clock->spend(1s);
        return ++calls == 5 ? expected<void>{fail(errc::unavailable, "gone")} : expected<void>{};
      },
      {.end = [&] { ended = true; }});
  REQUIRE_FALSE(looped);
  CHECK(looped.error().message == "gone");
  CHECK(clock->seconds() == 5);
  CHECK_FALSE(ended);  // Only after a clean end.
  CHECK(c.should_stop());
  CHECK(c.requested_error()->message == "gone");
  CHECK(c.loop([&]() -> expected<void> { return fail(errc::state, "never called"); }, {.every = 1s}));
}

TEST_CASE("a loop without a function is refused, and stops the others as any error does") {
  coordinator c;
  const auto looped = c.loop({});
  REQUIRE_FALSE(looped);
  CHECK(looped.error() == of(errc::invalid_argument, "a loop of the coordinator has an empty function"));
  CHECK(c.requested_error() == looped.error());
}

TEST_CASE("what is to be called at a stop is called once, whatever the others do, and not once its object has gone") {
  coordinator c;
  int calls = 0;
  const auto first = c.at_stop([&] { ++calls; });
  const auto throws = c.at_stop([] { throw std::runtime_error("no"); });
  std::shared_ptr<void> dropped;
  const auto drops = c.at_stop([&] { dropped.reset(); });
  dropped = c.at_stop([&] { calls += 100; });
  const auto last = c.at_stop([&] { ++calls; });
  static_cast<void>(c.at_stop([&] { calls += 100; }));  // Gone at once.
  CHECK(c.request_stop());
  CHECK(calls == 2);
  const auto late = c.at_stop([&] { ++calls; });
  CHECK(calls == 3);
  CHECK(c.request_stop());
  CHECK(calls == 3);
}

TEST_CASE_FIXTURE(timed, "a patience of any length is one") {
  CHECK_FALSE(c.wait_for_stop(std::chrono::milliseconds::min()));
  CHECK(c.request_stop());
  CHECK(c.wait_for_stop(std::chrono::milliseconds::max()));
  const auto here = c.enlist("for ever");
  CHECK_FALSE(c.join({.grace = std::chrono::milliseconds::max()}));
  c.clear_stop();
  int calls = 0;
  const auto century = clock->seconds();
  CHECK(c.loop([&]() -> expected<void> { return ++calls < 2 ? expected<void>{} : c.request_stop(); },
               {.every = std::chrono::milliseconds::max()}));
  CHECK(clock->seconds() - century > 3'000'000'000);
}

TEST_CASE_FIXTURE(timed,
                  "who goes on through stops that pass stays enlisted over them, and ends with one that does not") {
  c = coordinator{{.passing = {errc::aborted}, .clock = clock}};
  CHECK(c.is_passing(errc::aborted));
  CHECK_FALSE(c.is_passing(errc::not_found));
  int stops = 0, ends = 0;
  const auto here = c.enlist_until_end("feeder");
  const auto ended = c.at_end([&] { ++ends; });
  for (int round = 1; round <= 2; ++round) {
    const auto stopped = c.at_stop([&] { ++stops; });
    CHECK(c.request_stop(of(errc::aborted, "preempted")));
    CHECK_FALSE(c.join({.begins_anew = true}));
    CHECK_FALSE(c.should_stop());
    CHECK(stops == round);
    CHECK(ends == 0);
  }
  CHECK_MESSAGE(clock->seconds() == 0, "nobody waits for it");
  bool by_join = true;
  SUBCASE("a join that begins nothing anew") { CHECK(c.request_stop(of(errc::aborted, "preempted"))); }
  SUBCASE("an error that does not pass") {
    CHECK(c.request_stop(of(errc::not_found, "no file")));
    by_join = false;
  }
  SUBCASE("no error") {
    CHECK(c.request_stop());
    by_join = false;
  }
  CHECK(ends == (by_join ? 0 : 1));
  std::string line;
  static_cast<void>(c.join({.ignore_live = true, .log = [&](const std::string& text) { line = text; }}));
  CHECK(ends == 1);
  CHECK(line.starts_with("'feeder' did not end"));
  int late = 0;
  CHECK_FALSE(c.at_end([&] { ++late; }));
  CHECK(late == 1);
}

TEST_CASE("a coordinator that was moved from is the same one as the other") {
  coordinator c;
  const coordinator other = std::move(c);
  CHECK(c.request_stop(of(errc::not_found, "first")));
  CHECK(other.should_stop());
  CHECK(other.requested_error()->message == "first");
  auto here = coordinator{}.enlist("gone");
  auto there = std::move(here);
  here.leave();
}

}  // namespace troupe::test
