#include "actors/chief/evaluation_schedule.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

using namespace std::chrono_literals;
using next = evaluation_schedule::next;

TEST_CASE("of the commits that wait only the newest is evaluated") {
  evaluation_schedule e{0};
  CHECK(e.decide({}) == next::nothing);
  CHECK_FALSE(e.offer({10}));
  CHECK(e.offer({20}) == checkpoint_id{10});
  CHECK(e.waiting() == checkpoint_id{20});
  CHECK(e.decide({}) == next::begin);
}

TEST_CASE("a commit supersedes one of the same step in an earlier iteration, and itself never") {
  evaluation_schedule e{0};
  CHECK_FALSE(e.offer({10}));
  CHECK_FALSE(e.offer({10}));
  CHECK(e.offer({10, 1}) == checkpoint_id{10});
  CHECK(e.waiting() == checkpoint_id{10, 1});
}

TEST_CASE("one evaluation runs at a time") {
  evaluation_schedule e{0};
  e.offer({10});
  e.begin(0s);
  e.offer({20});
  CHECK(e.decide({}) == next::nothing);
  CHECK(e.end() == checkpoint_id{10});
  CHECK_FALSE(e.end());
  CHECK(e.last() == checkpoint_id{10});
  CHECK(e.decide({}) == next::begin);
}

TEST_CASE("an evaluation too soon after the one before is skipped, but for the last") {
  evaluation_schedule e{600};
  e.offer({10});
  e.begin(100s);
  e.end();
  e.offer({20});
  CHECK(e.decide({.now = 699s}) == next::skip);
  CHECK(e.decide({.now = 699s, .at_the_end = true}) == next::begin);
  CHECK(e.decide({.now = 700s}) == next::begin);
}

TEST_CASE("before the start delay only the last checkpoint is evaluated") {
  evaluation_schedule e{0, 120};
  e.offer({10});
  CHECK(e.decide({.now = 119s}) == next::skip);
  CHECK(e.decide({.now = 119s, .at_the_end = true}) == next::begin);
  CHECK(e.decide({.now = 120s}) == next::begin);
}

TEST_CASE("a checkpoint too few steps after the one evaluated before is skipped, but for the first and the last") {
  evaluation_schedule e{0, 0, 10};
  e.offer({5});
  CHECK(e.decide({}) == next::begin);
  e.begin(0s);
  e.end();
  e.offer({14});
  CHECK(e.decide({}) == next::skip);
  CHECK(e.decide({.at_the_end = true}) == next::begin);
  e.offer({15});
  CHECK(e.decide({}) == next::begin);
  e.begin_at({4});  // The job has gone back to before that evaluation.
  e.offer({6});
  CHECK(e.decide({}) == next::begin);
}

TEST_CASE("nothing is evaluated where nobody evaluates") {
  evaluation_schedule e{0};
  e.offer({10});
  CHECK(e.decide({.possible = false, .at_the_end = true}) == next::skip);
}

TEST_CASE("only an evaluation that is to be made waits for its event file") {
  evaluation_schedule e{600};
  while (e.number_record() < initial_record_credit - 2) {}
  e.offer({10});
  CHECK(e.decide({.recorded = true}) == next::need_room);
  CHECK(e.decide({.recorded = false}) == next::begin);
  CHECK(e.decide({.possible = false, .recorded = true}) == next::skip);
  e.set_record_credit(initial_record_credit + 1);
  CHECK(e.decide({.recorded = true}) == next::begin);
  e.set_record_credit(0);
  CHECK_MESSAGE(e.decide({.recorded = true}) == next::begin, "room is never taken back");
}

TEST_CASE(
    "a state that was shown is seen, also while its evaluation runs; one that was checked before training is not") {
  evaluation_schedule e{0};
  e.check({10});
  CHECK_FALSE(e.has_seen({10}));
  e.end();
  CHECK_FALSE(e.has_seen({10}));
  e.show({10});
  CHECK(e.has_seen({10}));
  CHECK_FALSE(e.has_seen({9}));
  e.end();
  CHECK(e.has_seen({10}));
  e.begin_at({5});
  CHECK_FALSE(e.has_seen({10}));
}

TEST_CASE("one that is lost has not ended, and one is cancelled once") {
  evaluation_schedule e{0};
  CHECK_FALSE(e.cancel());
  e.offer({10});
  e.begin(0s);
  CHECK(e.cancel());
  CHECK_FALSE(e.cancel());
  CHECK(e.lose() == checkpoint_id{10});
  CHECK_FALSE(e.last());
  CHECK(e.idle());
}

TEST_CASE("the next evaluation is due after the start delay, then when the throttle has passed since the last began") {
  evaluation_schedule e{600, 120};
  CHECK(e.due() == 120s);
  e.offer({10});
  e.begin(130s);
  e.end();
  CHECK(e.due() == 730s);
  CHECK(evaluation_schedule{1e300, 1e300}.due() > 24h * 365);
  CHECK(evaluation_schedule{0}.due() == 0s);
}

TEST_CASE("a checkpoint whose evaluation was in vain may be evaluated again") {
  evaluation_schedule e{0};
  e.offer({10});
  e.begin(0s);
  e.end();
  e.forget({20});
  CHECK(e.last() == checkpoint_id{10});
  e.forget({10});
  CHECK_FALSE(e.last());
}

}  // namespace troupe::test
