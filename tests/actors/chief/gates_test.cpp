#include "actors/chief/gates.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {
constexpr int64_t never = INT64_MAX;
}

TEST_CASE("a step that a hook will hold limits the horizon before its mark is placed, and until it is answered") {
  gates g;
  g.set_needs({{.first = 5, .every = 5, .gate = true}, {.first = 3}}, {});
  CHECK(g.limit(0) == 5);
  CHECK(g.limit(5) == 10);
  g.marked(5);
  CHECK(g.limit(5) == 5);
  CHECK(g.is_held(5));
  CHECK_FALSE(g.awaited());
  g.asked(5);
  CHECK(g.awaited() == 5);
  g.answered(5);
  CHECK(g.limit(5) == 10);
  CHECK_FALSE(g.awaited());
}

TEST_CASE("a step that is only watched is shown and holds nobody") {
  gates g;
  g.set_needs({{.first = 3, .every = 4}}, {});
  CHECK(g.next_shown(0) == 3);
  CHECK(g.next_shown(3) == 7);
  CHECK(g.shows(7));
  CHECK_FALSE(g.shows(8));
  g.marked(3);
  CHECK(g.limit(0) == never);
  CHECK_FALSE(g.held_by_hooks());
}

TEST_CASE("nothing runs past a commit before it is dealt with") {
  gates g;
  g.close(gate_kind::commit, 10);
  g.close(gate_kind::commit, 20);
  CHECK(g.limit(0) == 10);
  g.open(gate_kind::commit, 10);
  CHECK(g.limit(10) == 20);
  g.open(gate_kind::commit, 20);
  CHECK(g.limit(20) == never);
}

TEST_CASE("a fact that a hook holds is a gate at its state until facts up to it are answered") {
  gates g;
  g.hold_fact(7, 20);
  g.hold_fact(8, 10);
  CHECK(g.limit(0) == 10);
  CHECK(g.awaited() == 10);
  g.facts_answered(6);
  CHECK(g.awaited() == 10);
  g.facts_answered(8);
  CHECK_FALSE(g.awaited());
  CHECK(g.limit(0) == never);
}

TEST_CASE("without an evaluator commits are no gates, unless a hook holds them and they are not made yet") {
  gates g;
  g.close(gate_kind::commit, 10);
  g.close(gate_kind::commit, 20);
  SUBCASE("no hook holds them") {
    g.evaluations_lost(10);
    CHECK(g.limit(0) == never);
  }
  SUBCASE("a hook holds them") {
    g.set_needs({}, {.saved = true});
    g.evaluations_lost(10);
    CHECK(g.limit(0) == 20);
  }
}

TEST_CASE("gates beyond the end are none") {
  gates g;
  g.set_needs({{.first = 9, .gate = true}}, {});
  g.marked(9);
  g.close(gate_kind::commit, 12);
  g.cancel_above(8);
  CHECK_FALSE(g.held_by_hooks());
  CHECK(g.limit(9) == never);
}

TEST_CASE("a failure opens all gates") {
  gates g;
  g.set_needs({{.first = 9, .gate = true}}, {});
  g.marked(9);
  g.asked(9);
  g.close(gate_kind::commit, 9);
  g.hold_fact(1, 9);
  g.open_all();
  CHECK(g.limit(9) == never);
  CHECK_FALSE(g.awaited());
}

}  // namespace troupe::test
