#include "actors/chief/shown_state.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

TEST_CASE("a state is shown once all evaluations that take part have nothing else to do") {
  shown_state s;
  CHECK_FALSE(s.step());
  s.place(10, {0, 2});
  CHECK(s.step() == 10);
  CHECK(s.waits_for(2));
  CHECK_FALSE(s.waits_for(1));
  CHECK(s.wait_no_more_for(0));
  CHECK_FALSE(s.wait_no_more_for(0));
  CHECK(s.waits());
  CHECK(s.wait_no_more_for(2));
  CHECK_FALSE(s.waits());
}

TEST_CASE("a state is on its way from when it is sent, once, until it arrives; another state that arrives is none") {
  shown_state s;
  s.place(10, {0});
  CHECK_FALSE(s.is_on_way());
  CHECK(s.send());
  CHECK_FALSE(s.send());
  CHECK(s.is_on_way());
  s.arrived(5);
  CHECK_FALSE(s.has_arrived());
  s.arrived(10);
  CHECK(s.has_arrived());
  CHECK_FALSE(s.is_on_way());
  s.place(20, {0});
  CHECK_MESSAGE(!s.has_arrived(), "the next one begins anew");
  CHECK(s.send());
  s.done();
  CHECK_FALSE(s.step());
  CHECK_FALSE(s.is_on_way());
}

}  // namespace troupe::test
