#include <troupe/step_timer.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <vector>

namespace troupe::test {

namespace {

using steps = std::vector<int64_t>;

/// The steps at which a timer is due. It is asked after each of `runs` runs of `loop` steps, first at step `first`.
steps due_after_runs(step_timer timer, int64_t runs, int64_t loop = 1, int64_t first = 1) {
  steps all;
  for (int64_t run = 0; run < runs; ++run) {
    const int64_t step = first + run * loop;
    if (!timer.due(step, 0))
      continue;
    timer.trigger(step, 0);
    all.push_back(step);
  }
  return all;
}

}  // namespace

TEST_CASE(
    "[EST-39] a timer takes steps or seconds, is due at once, never twice at a step, and then after so many of them") {
  for (const auto& wrong : {step_timer::make({}, {}), step_timer::make(3, 2.0), step_timer::make(0, {}),
                            step_timer::make(-1, {}), step_timer::make({}, 0.0), step_timer::make({}, -2.0),
                            step_timer::make({}, std::numeric_limits<double>::infinity()),
                            step_timer::make({}, std::numeric_limits<double>::quiet_NaN())}) {
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().category == errc::invalid_argument);
  }
  CHECK(step_timer::make({}, {}).error().message
        == "a timer needs either every_steps or every_secs, and neither is given");
  CHECK(step_timer::make(3, 2.0).error().message
        == "a timer needs either every_steps or every_secs, and both are given");
  CHECK(step_timer::make(0, {}).error().message == "every_steps must be above 0, not 0");

  CHECK(due_after_runs(*step_timer::every_steps(3), 9) == steps{1, 4, 7});

  auto timer = *step_timer::every_secs(2.0);
  CHECK(timer.due(1, 0.5));
  CHECK_FALSE(timer.trigger(1, 0.5));
  CHECK_FALSE(timer.due(2, 2.25));
  CHECK_FALSE(timer.due(1, 9));  // A step is due at most once, however late.
  CHECK(timer.due(2, 2.5));
}

TEST_CASE(
    "a trigger tells steps and seconds since the one before; a timer that is reset, and one that is never due, have no "
    "trigger") {
  auto timer = *step_timer::every_steps(3);
  CHECK_FALSE(timer.last_step());
  CHECK_FALSE(timer.trigger(1, 10));
  const auto passed = timer.trigger(6, 12.5);
  REQUIRE(passed);
  CHECK(passed->steps == 5);
  CHECK(passed->seconds == 2.5);
  CHECK(timer.last_step() == 6);
  timer.reset();
  CHECK_FALSE(timer.last_step());
  CHECK(timer.due(6, 12.5));

  step_timer never;
  CHECK_FALSE(never.due(1, 0));
  CHECK_FALSE(never.trigger(1, 0));
  CHECK_FALSE(never.trigger(2, 1));
  CHECK_FALSE(never.last_step());
}

}  // namespace troupe::test
