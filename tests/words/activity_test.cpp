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

TEST_CASE("of the messages that wait in a mailbox the last count and the greatest are kept") {
  activity a;
  for (const int64_t waiting : {2, 5, 1}) {
    a.work(0, 0, typeid(void), waiting);
    a.wait(0, wait_cause::input);
  }
  CHECK(a.counts(0).mailbox == 1);
  CHECK(a.counts(0).mailbox_max == 5);
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

TEST_CASE("what an actor records are all of its spans, which add up to what it counts meanwhile") {
  activity a{0};
  a.work(10, 0, typeid(int));
  a.record(12, 100, 7, 9);
  const auto before = a.counts(12);
  a.wait(20, wait_cause::room);
  a.at_step(25, 7);
  a.work(30, 0, typeid(activity));
  a.pause(34, wait_cause::peers);
  a.go_on(35);
  a.at_step(37, 8);
  a.work(37, 0, typeid(int));  // Takes no time.
  a.wait(37, wait_cause::input);
  const auto after = a.counts(50);
  const auto r = a.recorded(50);
  CHECK((r.messages == std::vector<std::string>{"int", "activity"}));
  const std::vector<activity_span> wanted{
      {.begin_ns = 12, .end_ns = 20},           {20, 25, -1, false, 0, wait_cause::room},
      {25, 30, 7, false, 0, wait_cause::room},  {.begin_ns = 30, .end_ns = 34, .step = 7, .message = 1},
      {34, 35, 7, false, 0, wait_cause::peers}, {.begin_ns = 35, .end_ns = 37, .step = 7, .message = 1},
      {37, 50, 8, false, 0, wait_cause::input}};
  CHECK((r.spans == wanted));
  CHECK(r.left_out == 0);
  int64_t busy = 0, waits = 0;
  for (const auto& s : r.spans)
    (s.works ? busy : waits) += s.end_ns - s.begin_ns;
  CHECK(busy == after.busy_ns - before.busy_ns);
  CHECK(busy + waits == after.total_ns() - before.total_ns());
}

TEST_CASE("a recording has a bound, says how much it leaves out, and is gone once it is asked for") {
  activity a{0};
  a.record(0, 3, 0, 9);
  for (int64_t now = 1; now < 11; now += 2)
    a.work(now), a.wait(now + 1, wait_cause::input);
  const auto r = a.recorded(11);
  CHECK(r.spans.size() == 3);
  CHECK(r.left_out == 8);
  CHECK_FALSE(a.records());
  a.work(20);
  CHECK(a.recorded(30) == activity_recording{});
  a.record(40, 3, 0, 9);  // Begins anew.
  a.record(41, 3, 0, 9);
  CHECK(a.recorded(44).spans == std::vector<activity_span>{{.begin_ns = 41, .end_ns = 44, .step = -1}});
}

TEST_CASE("of spans with a step only those of the steps of the recording are kept") {
  activity a{0};
  a.record(0, 2, 100, 102);
  for (int64_t step = 0; step < 200; ++step)
    a.at_step(5 + step * 10, step);
  const auto r = a.recorded(3'000);
  REQUIRE(r.spans.size() == 2);
  CHECK(r.left_out == 2);  // The span without a step was the first one.
  CHECK(r.spans[0].step == -1);
  CHECK(r.spans[1].step == 100);
  a.record(3'000, 9, 0, 5);
  CHECK(a.recorded(3'010).spans.front().step == -1);  // Not that of the recording before.
}

}  // namespace troupe::test
