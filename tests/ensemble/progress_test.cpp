#include "ensemble/progress.hpp"

#include "tests/support/refused.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace troupe::test {

namespace {

/// An iteration that began at tick 1,000 with this global step; each subnetwork has a limit.
iteration_progress begun(int64_t base_step, std::initializer_list<std::optional<int64_t>> limits) {
  iteration_progress x{1000, base_step, {}};
  for (const auto& limit : limits)
    x.subnetworks.push_back({.limit = limit});
  return x;
}

int64_t global_step_after(const iteration_progress& x, int64_t ticks, const step_combiner& combine = {}) {
  const auto step = global_step_at(x, x.begins_at + ticks, combine);
  REQUIRE_MESSAGE(step, step.error().message);
  return *step;
}

std::optional<int64_t> ticks_to(const iteration_progress& x, int64_t goal, const step_combiner& combine = {}) {
  const auto tick = reaches(x, x.begins_at, goal, combine);
  REQUIRE_MESSAGE(tick, tick.error().message);
  return *tick ? std::optional{**tick - x.begins_at} : std::nullopt;
}

}  // namespace

TEST_CASE(
    "[ADA-22.2 global step] iterations of 100 steps, in which one of two subnetworks stops after 1, end at 50, 100, "
    "150 and 200") {
  int64_t global_step = 0;
  for (const int64_t wanted : {50, 100, 150, 200}) {
    auto x = begun(global_step, {100, 100});
    x.subnetworks[0].stop = spec_stop{stop_cause::hook, 1};
    CHECK(over_at(x) == 1100);
    global_step = global_step_after(x, 100);
    CHECK(global_step == wanted);
  }
}

TEST_CASE("an iteration is over when its last subnetwork has stopped, and one that was dropped counts as going on") {
  CHECK(over_at(begun(0, {100, 70})) == 1100);
  CHECK_FALSE_MESSAGE(over_at(begun(0, {100, std::nullopt})), "one has no limit");
  auto x = begun(0, {100, std::nullopt});
  x.subnetworks[1].stop = spec_stop{stop_cause::end_of_input, 130};
  CHECK(over_at(x) == 1130);
  x.subnetworks[1].stop = spec_stop{stop_cause::dropped, 30};
  CHECK_FALSE_MESSAGE(over_at(x), "it would not have stopped");
  x.subnetworks[1].stop->otherwise = {stop_cause::hook, 20};
  CHECK(over_at(x) == 1100);
  x.subnetworks[1].stop->otherwise->step = 120;
  CHECK(over_at(x) == 1120);
  x.subnetworks[1] = {.step = 30, .limit = 110, .stop = spec_stop{stop_cause::dropped, 30}};
  CHECK(over_at(x) == 1110);
}

TEST_CASE("the global step counts a dropped subnetwork as if it had gone on, which has made no step more itself") {
  auto x = begun(0, {100, 100});
  x.subnetworks[0].stop = spec_stop{stop_cause::dropped, 30};
  for (const int64_t ticks : {20, 30, 31, 100}) {
    CHECK(global_step_after(x, ticks) == ticks);
    CHECK(made_at(x.subnetworks[0], 1000, 1000 + ticks) == std::min<int64_t>(ticks, 30));
  }
  CHECK(ticks_to(x, 70) == 70);
  const step_combiner least = [](const std::vector<int64_t>& all) {
    return static_cast<double>(*std::min_element(all.begin(), all.end()));
  };
  CHECK(ticks_to(x, 100, least) == 100);
  x.subnetworks[0].stop->otherwise = {stop_cause::hook, 10};
  CHECK(global_step_after(x, 40) == (10 + 40) / 2);
  CHECK(made_at(x.subnetworks[0], 1000, 1040) == 10);
}

TEST_CASE("a subnetwork that has more steps than its limit when it begins again makes none") {
  auto x = begun(0, {75});
  x.subnetworks[0].step = 80;
  CHECK(last_step(x.subnetworks[0]) == 80);
  CHECK(over_at(x) == 1080);
}

TEST_CASE("a spec stays stopped at its step though its limit is higher now") {
  const spec_progress x{.step = 100, .limit = 200, .stop = spec_stop{stop_cause::complete, 100}};
  CHECK(last_step(x) == 100);
  CHECK(step_at(x, 1000, 1150) == 100);
}

TEST_CASE("the global step is the truncated mean, and a combiner of one's own is truncated as well") {
  const auto x = begun(7, {1, 4});
  CHECK(global_step_after(x, 1) == 8);
  CHECK(global_step_after(x, 2) == 8);
  CHECK(global_step_after(x, 4) == 9);
  const auto largest = [](const std::vector<int64_t>& steps) {
    return double(*std::max_element(steps.begin(), steps.end()));
  };
  CHECK(global_step_after(x, 4, largest) == 11);
  CHECK(global_step_after(x, 4, [](const std::vector<int64_t>& steps) { return double(steps[0]) + .99; }) == 8);
}

TEST_CASE("the tick of a global step is the first that has it, found with few calls of the combiner") {
  auto x = begun(0, {std::nullopt, std::nullopt});
  CHECK(ticks_to(x, 300) == 300);
  CHECK(ticks_to(x, 0) == 0);
  x.subnetworks[0].stop = spec_stop{stop_cause::hook, 1};
  CHECK(ticks_to(x, 300) == 599);
  int calls = 0;
  const auto counting = [&calls](const std::vector<int64_t>& steps) { return ++calls, double(steps[1]); };
  CHECK(ticks_to(x, 1'000'000, counting) == 1'000'000);
  CHECK(calls < 50);
}

TEST_CASE("a global step that an iteration does not come to has no tick; one at its end has") {
  CHECK(ticks_to(begun(0, {100, 50}), 75) == 100);
  CHECK_FALSE(ticks_to(begun(0, {100, 50}), 76));
  CHECK_FALSE(ticks_to(begun(0, {std::nullopt}), 10, [](const std::vector<int64_t>&) { return 9.; }));
}

TEST_CASE("a global step that falls is an error that names both values and ticks") {
  const auto falling = [](const std::vector<int64_t>& steps) { return steps[0] < 10 ? double(steps[0]) : 5.; };
  refused(reaches(begun(0, {std::nullopt}), 1000, 50, falling), errc::state,
          "the global step falls from 8 at tick 1008 to 5 at tick 1016: global_step_combiner must not fall");
  CHECK(check_rise({10, 7}, {11, 7}));
  refused(check_rise({10, 7}, {11, 6}), errc::state, "from 7 at tick 10 to 6 at tick 11");
  const auto dip = [](const std::vector<int64_t>& steps) { return steps[0] == 96 ? 1. : double(steps[0]); };
  refused(reaches(begun(0, {std::nullopt}), 1000, 100, dip), errc::state, "to 1 at tick 1096");
}

TEST_CASE("a combiner that throws or returns no step is an error") {
  const auto of = [](step_combiner combine) { return global_step_at(begun(0, {10, 20}), 1005, combine); };
  refused(of([](const std::vector<int64_t>&) -> double { throw std::runtime_error{"no"}; }), errc::state,
          "an exception left global_step_combiner: no");
  refused(of([](const std::vector<int64_t>&) -> double { throw 1; }), errc::state,
          "an exception left global_step_combiner");
  refused(of([](const std::vector<int64_t>&) { return -1.; }), errc::state,
          "from 0 to 2^53, and returned -1 for the steps 5, 5");
  refused(of([](const std::vector<int64_t>&) { return std::numeric_limits<double>::quiet_NaN(); }), errc::state,
          "returned nan");
  refused(of([](const std::vector<int64_t>&) { return 1e300; }), errc::state, "returned 1e+300");
}

TEST_CASE("limits below 1 are refused by name, and so are steps beside max_steps") {
  CHECK(validate(search_limits{}));
  CHECK(validate(search_limits{.max_iteration_steps = 1, .max_iterations = 1, .max_steps = 1}));
  refused(validate(search_limits{.max_iteration_steps = 0}), errc::invalid_argument,
          "max_iteration_steps must be at least 1, not 0");
  refused(validate(search_limits{.max_iteration_steps = INT64_MAX}), errc::invalid_argument,
          "max_iteration_steps must be at most 2^53, not 9223372036854775807");
  refused(validate(search_limits{.steps = ticks_max + 1}), errc::invalid_argument, "steps must be at most 2^53");
  refused(validate(search_limits{.max_iterations = -3}), errc::invalid_argument,
          "max_iterations must be at least 1, not -3");
  refused(validate(search_limits{.steps = 0}), errc::invalid_argument, "steps must be at least 1, not 0");
  refused(validate(search_limits{.max_steps = 0}), errc::invalid_argument, "max_steps must be at least 1, not 0");
  refused(validate(search_limits{.steps = 5, .max_steps = 9}), errc::invalid_argument,
          "steps (5) and max_steps (9) exclude one another");
}

TEST_CASE(
    "steps are counted from the global step at the beginning, max_steps from 0, and without both there is no goal") {
  CHECK(goal_of({.steps = 5}, 100) == 105);
  CHECK(goal_of({.max_steps = 5}, 100) == 5);
  CHECK_FALSE(goal_of({}, 100));
}

TEST_CASE("after training follows the first that applies: max_steps, an open iteration, max_iterations, a choice") {
  const search_limits two_iterations{.max_iterations = 2};
  const stretch_end over{.iteration = 1, .global_step = 300, .is_over = true};
  CHECK(phase_after(two_iterations, 300, over) == next_phase::max_steps);
  CHECK(phase_after(two_iterations, 301, over) == next_phase::max_iterations);
  CHECK(phase_after({}, 301, over) == next_phase::choose);
  CHECK(phase_after({}, {}, over) == next_phase::choose);
  CHECK(phase_after(two_iterations, 301, {.iteration = 0, .global_step = 300, .is_over = true}) == next_phase::choose);
  CHECK(phase_after(two_iterations, 301, {.iteration = 1, .global_step = 300}) == next_phase::open);
  CHECK(phase_after({}, {}, {.is_over = true, .was_stopped = true}) == next_phase::open);
}

TEST_CASE("a stop says its cause, the steps and what is known beyond") {
  CHECK(to_text(spec_stop{stop_cause::complete, 100}) == "completed 100 steps");
  CHECK(to_text(spec_stop{stop_cause::already_complete, 1}) == "was already complete after 1 step");
  CHECK(to_text(spec_stop{stop_cause::hook, 5}) == "a hook of its own asked to stop after 5 steps");
  CHECK(to_text(spec_stop{stop_cause::end_of_input, 2, "bag.csv"}) == "the end of its input after 2 steps: bag.csv");
  CHECK(to_text(spec_stop{stop_cause::dropped, 7, "nan_loss"}) == "dropped after 7 steps: nan_loss");
}

}  // namespace troupe::test
