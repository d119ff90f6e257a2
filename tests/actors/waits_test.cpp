#include "actors/waits.hpp"

#include "actors/chief/fact_window.hpp"
#include "actors/chief/pace.hpp"
#include "actors/inquiry.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

using namespace std::chrono_literals;

namespace {

/// Passes the time `span` period by period. Returns the waits that became due, in order.
std::vector<int32_t> look(waits& w, std::chrono::milliseconds span) {
  std::vector<int32_t> due;
  for (auto t = 0ms; t < span; t += w.period())
    for (const auto& d : w.pass(w.period()))
      due.push_back(d.kind);
  return due;
}

}  // namespace

TEST_CASE("an actor looks at least eight times during its shortest wait, and at most a thousand times a second") {
  CHECK(waits::period_for({600s, 30s}) == 250ms);
  CHECK(waits::period_for({600s, 1s}) == 125ms);
  CHECK(waits::period_for({1ms}) == 1ms);
}

TEST_CASE("a wait is due when its patience has passed, is told once, and expires unless it was answered meanwhile") {
  waits w{2, 250ms};
  w.arm(1, 1s);
  CHECK(look(w, 750ms).empty());
  const auto due = w.pass(250ms);
  REQUIRE(due.size() == 1);
  CHECK(due[0].kind == 1);
  CHECK(look(w, 10s).empty());
  SUBCASE("it was not") {
    CHECK(w.expires(1, due[0].number));
    CHECK_FALSE(w.expires(1, due[0].number));
  }
  SUBCASE("it was") {
    w.disarm(1);
    CHECK_FALSE(w.expires(1, due[0].number));
  }
  SUBCASE("it began anew") {
    w.arm(1, 1s);
    CHECK_FALSE(w.expires(1, due[0].number));
    CHECK(w.armed(1));
  }
}

TEST_CASE("time in which the process stood still does not count") {
  waits w{1, 250ms};
  w.arm(0, 1s);
  CHECK(w.pass(1h).empty());  // Only two periods of the hour count.
  CHECK(w.pass(250ms).empty());
  CHECK(w.pass(250ms).size() == 1);
}

TEST_CASE("nothing is waited for when all is disarmed") {
  waits w{3, 250ms};
  CHECK_FALSE(w.any());
  w.arm(2, 1s);
  CHECK(w.any());
  w.disarm_all();
  CHECK_FALSE(w.any());
  CHECK(look(w, 5s).empty());
}

TEST_CASE("the pace is that of the time between reports, whatever the replicas compute") {
  pace p;
  p.begins(0ns);
  CHECK(p.seconds_per_step() == 0);
  p.goes_on(20ms, 1);
  CHECK(p.seconds_per_step() == doctest::Approx(0.02));
  SUBCASE("time before steps were granted does not count") {
    p.begins(10s);
    p.goes_on(10s + 20ms, 1);
    CHECK(p.seconds_per_step() == doctest::Approx(0.02));
  }
  SUBCASE("less than 10 ms are no measurement; the steps count in the next") {
    p.goes_on(20ms + 1us, 1000);
    CHECK(p.seconds_per_step() == doctest::Approx(0.02));
    p.goes_on(40ms, 1000);
    CHECK(p.seconds_per_step() == doctest::Approx(0.8 * 0.02 + 0.2 * 1e-5));
  }
  SUBCASE("an input that becomes slow shortens the horizon at once, and the average a fifth of the way") {
    p.goes_on(1020ms, 1);
    CHECK(p.cautious_seconds_per_step() == doctest::Approx(1));
    CHECK(p.seconds_per_step() == doctest::Approx(0.8 * 0.02 + 0.2));
  }
}

TEST_CASE("quick hooks may be 256 facts behind, slow ones half a second, none less than one, and unknown ones two") {
  fact_window w;
  CHECK(w.room() == 2);
  SUBCASE("a hook of 50 ms may be ten behind, once that is known") {
    for (int64_t s = 1; s <= 20; ++s)
      w.answered(s * 50ms, w.told((s - 1) * 50ms));
    CHECK(w.size() == 10);
  }
  SUBCASE("a hook of a minute may be one behind") {
    w.answered(60s, w.told(0ns));
    CHECK(w.size() == 1);
    w.told(60s);
    CHECK(w.full());
  }
  SUBCASE("a quick hook") {
    for (int64_t s = 1; s <= 300; ++s)
      w.answered(s * 1us, w.told(s * 1us));
    CHECK(w.room() == fact_window::facts_max);
    for (int64_t s = 1; s <= fact_window::facts_max; ++s)
      w.marked(s);
    CHECK(w.full());
    SUBCASE("leaves room again when a watch that was marked is answered") {
      const auto number = w.told(0ns, 1);
      CHECK(w.full());
      CHECK(w.expects());
      w.answered(1us, number);
      CHECK(w.room() == 1);
      CHECK(w.unanswered() == 0);
    }
    SUBCASE("is not waited for at states that will not be reached") {
      w.ends_at(10);
      CHECK(w.room() == fact_window::facts_max - 10);
    }
  }
}

TEST_CASE("a node owes an answer until one has come, of whichever question, or it has ended") {
  inquiry q{2}, other{1};
  const auto first = q.begin({"a", "b"});
  q.sent_to("a");
  q.sent_to("b");
  CHECK(q.owes("a"));
  q.on({other.begin({"a"}), "a", {}});
  CHECK(q.owes("a"));
  q.begin({"a", "b"});
  CHECK_FALSE(q.on({first, "a", {}}));
  CHECK_FALSE(q.owes("a"));
  CHECK(q.owes("b"));
  q.forget("b");
  CHECK_FALSE(q.owes("b"));
}

TEST_CASE("an inquiry names those first who do not answer, and then where the others stand") {
  inquiry q;
  const auto number = q.begin({"infeed/0", "outfeed", "replica/0"});
  CHECK_FALSE(q.on({number, "replica/0", {{"received", 3}, {"computed", 2}}}));
  CHECK_FALSE(q.on({number - 1, "infeed/0", {}}));
  CHECK_FALSE(q.on({number, "nobody", {}}));
  CHECK(q.text() == "infeed/0 does not answer; outfeed does not answer; replica/0: received 3, computed 2");
  CHECK_FALSE(q.on({number, "outfeed", {{"reported", 2}}}));
  CHECK(q.on({number, "infeed/0", {{"sent", 3}}}));
  CHECK(q.text() == "infeed/0: sent 3; outfeed: reported 2; replica/0: received 3, computed 2");
}

}  // namespace troupe::test
