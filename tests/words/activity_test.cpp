#include "words/activity.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

TEST_CASE("work and waits of an actor add up to the time since its start") {
  activity a{100};
  a.work(130, 8);
  a.wait(150, wait_cause::input, 3);
  a.work(155);
  a.wait(156, wait_cause::room, 1);
  a.work(176, 2);
  const auto now = a.counts(180);
  CHECK(now.total_ns() == 80);
  CHECK(now.busy_ns == 20 + 1 + 4);
  CHECK(now.waiting_for(wait_cause::horizon) == 30);
  CHECK(now.waiting_for(wait_cause::input) == 5);
  CHECK(now.waiting_for(wait_cause::room) == 20);
  CHECK(now.waiting_for(wait_cause::peers) == 0);
  CHECK(now.messages == 3);
  CHECK(now.bytes == 10);
  CHECK(now.queued == 1);
  CHECK(now.queued_max == 3);
}

TEST_CASE("a wait within a handler is not counted as work, and the rest of the handler is") {
  activity a;
  a.work(0);
  a.pause(10, wait_cause::peers);
  a.go_on(60);
  a.wait(65, wait_cause::input);
  CHECK(a.counts(65).messages == 1);
  CHECK(a.counts(65).busy_ns == 15);
  CHECK(a.counts(65).waiting_for(wait_cause::peers) == 50);
}

TEST_CASE("counts may be asked for at any time and change nothing") {
  activity a{0}, asked{0};
  for (int64_t now = 1; now < 40; ++now) {
    CHECK(asked.counts(now).total_ns() == now);
    if (now % 3 == 0)
      a.work(now), asked.work(now);
    if (now % 3 == 1)
      a.wait(now, wait_cause::arena), asked.wait(now, wait_cause::arena);
  }
  CHECK(a.counts(40) == asked.counts(40));
}

TEST_CASE("a clock that stands still, as in a simulation, counts messages and no time") {
  activity a{7};
  for (int i = 0; i < 5; ++i) {
    a.work(7, 100);
    a.wait(7, wait_cause::input);
  }
  CHECK(a.counts(7).total_ns() == 0);
  CHECK(a.counts(7).messages == 5);
  CHECK(a.counts(7).bytes == 500);
}

TEST_CASE("each cause of a wait has a name of its own") {
  CHECK(to_string(wait_cause::input) == "input");
  CHECK(to_string(wait_cause::peers) == "peers");
  CHECK(to_string(wait_cause::room) == "room");
  CHECK(to_string(wait_cause::arena) == "arena");
  CHECK(to_string(wait_cause::horizon) == "horizon");
}

}  // namespace troupe::test
