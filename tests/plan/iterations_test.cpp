#include "plan/checked_plan.hpp"
#include "tests/plan/hand_written_plans.hpp"
#include "tests/support/has.hpp"

#include <functional>

namespace troupe::test {

TEST_CASE(
    "the plan of an iteration says from which state to which it goes, and is refused where it cannot follow or be "
    "followed") {
  auto p = good().plan;
  SUBCASE("with bounds it can be, and its text has them") {
    p.iteration = {2, 100, 200};
    CHECK(has(to_text(p), "iteration 2: from state 100 to state 200\n"));
    const auto plan = checked_plan::of(p);
    REQUIRE(plan);
    CHECK((*plan)->iteration.goes_on_from({150, 2}));
    CHECK((*plan)->iteration.goes_on_from({100, 1}));
    for (const checkpoint_id other : {checkpoint_id{200, 2}, {99, 1}, {150, 1}, {150, 3}})
      CHECK_FALSE((*plan)->iteration.goes_on_from(other));
  }
  SUBCASE("a later one that begins nowhere") {
    p.iteration = {.number = 1, .ends_at = 5};
    CHECK(says(p, {"iteration 1 does not say at which state it begins"}));
  }
  SUBCASE("a first one that begins somewhere") {
    p.iteration = {.number = 0, .begins_at = 5};
    CHECK(says(p, {"iteration 0 begins at a state, and the first one is 0"}));
  }
  SUBCASE("one without a step") {
    p.iteration = {1, 100, 100};
    CHECK(says(p, {"iteration 1 ends at state 100 and begins at state 100"}));
  }
  SUBCASE("one that saves nothing") {
    std::erase_if(p.edges, [](const plan_edge& e) { return e.kind == edge_kind::part; });
    p.iteration = {.ends_at = 5};
    CHECK(says(p, {"iteration 0 is one of several, and nothing is saved"}));
  }
}

TEST_CASE("a plan can follow another one if whoever lives on is the same node in both") {
  const auto plan = [](const std::function<void(job_plan&)>& edit) {
    auto p = good().plan;
    edit(p);
    auto checked = checked_plan::of(std::move(p));
    REQUIRE(checked);
    return std::move(*checked);
  };
  const auto now = plan([](job_plan&) {});
  CHECK(check_successor(now, plan([](job_plan& p) { named(p, "a/replica/0").name = "c/replica/0"; })));
  const auto refused = check_successor(now, plan([](job_plan& p) { named(p, "checkpoint_writer").name = "another"; }));
  REQUIRE_FALSE(refused);
  CHECK(has(refused.error().message,
            "'checkpoint_writer' lives on from iteration to iteration, and the next plan has "
            "'another', a checkpoint_writer, under its number"));
  const auto placed = check_successor(plan([](job_plan& p) { named(p, "checkpoint_writer").place = 1; }), now);
  CHECK_FALSE(placed);
}

}  // namespace troupe::test
