#include "actors/chief/horizon.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

using steps = std::vector<int64_t>;

steps marked(const grant& g, mark_kinds kind) {
  steps at;
  for (const auto& m : g.marks)
    if ((m.kinds & kind) != 0)
      at.push_back(m.step);
  return at;
}

/// A horizon at step 0. Reports come in blocks of 8 steps.
horizon at_the_start(horizon_options options, std::optional<int64_t> end = {}) {
  horizon h{options};
  h.begin(0, end);
  h.granted({}, 8);
  h.reach({}, 8, 8);
  return h;
}

}  // namespace

TEST_CASE("a grant reaches two blocks beyond the reports, and not past the end or the first gate") {
  const gates open;
  CHECK(at_the_start({}).next(open, {}).until == 24);
  CHECK(at_the_start({}, 20).next(open, {}).until == 20);
  CHECK(at_the_start({}, 20).next(open, {.limit = 11}).until == 11);
  CHECK_MESSAGE(at_the_start({}).next(open, {.limit = 5}).until <= 8, "a gate behind the horizon grants nothing new");
}

TEST_CASE("a grant marks every multiple on its way, the end, and what the hooks are shown, each once") {
  gates shown;
  shown.set_needs({{.first = 11, .every = 6}}, {});
  const auto g = at_the_start({.save_steps = 5, .summary_steps = 10}, 21).next(shown, {});
  CHECK(g.until == 21);
  CHECK(marked(g, mark_snapshot) == steps{10, 15, 20, 21});
  CHECK(marked(g, mark_summary) == steps{10, 20});
  CHECK(marked(g, mark_watch) == steps{11, 17});
  CHECK(marked(g, mark_end) == steps{21});
  CHECK(g.marks.size() == 6);
}

TEST_CASE("what a model observes is computed where hooks are shown a state, if any hook wants it") {
  gates shown;
  shown.set_needs({{.first = 11}}, {}, true);
  const auto g = at_the_start({.save_steps = 10}, 21).next(shown, {});
  CHECK(marked(g, mark_observe) == steps{11});
  CHECK(marked(g, mark_watch) == steps{11});
}

TEST_CASE("nothing is saved, not even the end, where no checkpoints are written") {
  const auto g = at_the_start({.checkpoints = false, .save_steps = 5}, 21).next({}, {});
  CHECK(g.marks == std::vector<mark>{{21, mark_end}});
}

TEST_CASE("a grant ends before the save for which there is no room") {
  const auto h = at_the_start({.save_steps = 2});
  CHECK(h.next({}, {.saves_unreported = 0}).until == 24);
  const auto g = h.next({}, {.saves_unreported = 6});
  CHECK(marked(g, mark_snapshot) == steps{10, 12});
  CHECK(g.until == 13);
}

TEST_CASE(
    "a grant ends before the state for which the hooks have no room, and before records that nobody could write") {
  gates shown;
  shown.set_needs({{.first = 1, .every = 1}}, {});
  const auto h = at_the_start({});
  CHECK(h.next(shown, {.shown = 3}).until == 11);
  CHECK(h.next(shown, {.shown = 0}).until == 8);

  horizon quick{{.summary_steps = 1}};
  quick.begin(0, {});
  quick.granted({}, 100);
  quick.reach({}, 50, 50);
  CHECK_MESSAGE(quick.next({}, {}).until == 100, "82 is the last record that fits, and 100 was granted before");
  quick.reach({}, 80, 30);
  CHECK(quick.next({}, {}).until == 112);
}

TEST_CASE("data that end pull the horizon back to where everyone has stopped") {
  auto h = at_the_start({}, 100);
  h.granted({}, 24);
  CHECK_FALSE(h.idle());
  h.cut_at(15, job_end::finished);
  CHECK(h.until() == 15);
  CHECK(h.reached() == 15);
  CHECK(h.end() == 15);
  CHECK(h.idle());
  CHECK(h.next({}, {}).until <= 15);
}

TEST_CASE("reports that are known or older tell nothing") {
  auto h = at_the_start({});
  CHECK_FALSE(h.reach({}, 8, 1));
  CHECK_FALSE(h.reach({}, 7, 1));
  CHECK(h.reach({}, 9, 1));
  CHECK(h.reached() == 9);
}

}  // namespace troupe::test
