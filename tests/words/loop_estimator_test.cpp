#include "words/loop_estimator.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace troupe::test {

namespace {

/// Adds `count` loops of 20 steps that take `step_secs` each.
void add_loops(loop_estimator& e, int count, double step_secs) {
  for (int i = 0; i < count; ++i)
    e.add(20 * step_secs, 20);
}

}  // namespace

TEST_CASE("[DF-27] the first answer is 1 step; half a second a step is 20 steps in 10 seconds") {
  auto e = *loop_estimator::make();
  CHECK(e.steps_for(10) == 1);
  e.add(0.5, 1);
  CHECK(e.steps_for(10) == 20);
}

TEST_CASE("[DF-27] after 21 steady loops the answer is kept") {
  auto e = *loop_estimator::make();
  add_loops(e, 20, 0.5);
  CHECK(e.steps_for(10) == 20);
  SUBCASE("which 20 are not enough for") { CHECK(e.steps_for(10.4) == 21); }
  add_loops(e, 1, 0.5);
  SUBCASE("for a time near that of the last loop") {
    CHECK(e.steps_for(10.4) == e.steps_for(10));
    CHECK(e.steps_for(10.9) == e.steps_for(10));
  }
  SUBCASE("but not for another time") { CHECK(e.steps_for(20) == 40); }
  SUBCASE("nor where the last loop and the mean are far from it") {
    add_loops(e, 20, 0.48);
    CHECK(e.steps_for(12) == 25);
  }
}

TEST_CASE(
    "[DF-27] steps whose times vary by 0.05 seconds are estimated anew, those that vary by less than 0.03 are not") {
  const auto answers = [](double spread) {
    auto e = *loop_estimator::make();
    add_loops(e, 21, 0.5);
    CHECK(e.steps_for(10) == 20);
    for (int i = 0; i < 10; ++i) {
      e.add(20 * (0.48 - spread), 20);
      e.add(20 * (0.48 + spread), 20);
    }
    return *e.steps_for(10);
  };
  CHECK(answers(0.05) == 21);
  CHECK(answers(0.02) == 20);
}

TEST_CASE("[DF-27] loops without time or steps are ignored; no time, none at all and no capacity are refused") {
  auto e = *loop_estimator::make();
  e.add(0, 20);
  e.add(-1, 20);
  e.add(10, 0);
  e.add(std::numeric_limits<double>::quiet_NaN(), 20);
  CHECK(e.steps_for(10) == 1);
  add_loops(e, 1, 0.5);
  e.add(0, 20);
  CHECK(e.steps_for(10) == 20);
  CHECK(e.steps_for(0).error() == error{errc::invalid_argument, "a loop must take more than 0 s, not 0"});
  CHECK(e.steps_for(-1).error().category == errc::invalid_argument);
  CHECK(e.steps_for(std::numeric_limits<double>::infinity()).error().category == errc::invalid_argument);
  CHECK(loop_estimator::make(0).error()
        == error{errc::invalid_argument, "an estimator of loops must remember at least 1, not 0"});
}

TEST_CASE("an answer is at least 1 step, is rounded half up, and does not overflow") {
  auto e = *loop_estimator::make(1);
  e.add(30, 1);
  CHECK(e.steps_for(10) == 1);
  e.add(4, 1);
  CHECK(e.steps_for(10) == 3);
  e.add(1e-300, 1);
  CHECK(*e.steps_for(10) == 1'000'000'000'000'000);
}

TEST_CASE("loops before the last 20 are forgotten") {
  auto e = *loop_estimator::make();
  add_loops(e, 1, 100);
  add_loops(e, 20, 0.25);
  CHECK(e.steps_for(10) == 40);
}

}  // namespace troupe::test
