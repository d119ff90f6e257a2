#include "actors/chief/evaluations.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

using namespace std::chrono_literals;

namespace {

constexpr bool held = true, not_held = false;

/// Two evaluations: training waits for the first; the second runs beside training.
evaluations two() {
  return evaluations{
      {{.name = "waits", .throttle_secs = 0}, {.name = "beside", .throttle_secs = 0, .when = evaluation_mode::beside}}};
}

}  // namespace

TEST_CASE(
    "a checkpoint is needed until every evaluation is done with it, and holds training until those are that it waits "
    "for") {
  auto all = two();
  CHECK(all.are_gates(not_held));
  CHECK(all.offer({10}).empty());
  CHECK(all.hold({10}, not_held));
  all.at(0).begin(0s);
  all.at(0).end();
  CHECK_FALSE(all.hold({10}, not_held));
  CHECK_MESSAGE(all.hold({10}, held), "a hook holds the other one's fact");
  CHECK(all.concern({10}));
  CHECK_FALSE(all.have_ended({10}));
  all.at(1).begin(0s);
  all.at(1).end();
  CHECK_FALSE(all.concern({10}));
  CHECK(all.have_ended({10}));
  CHECK(all.idle());
}

TEST_CASE("a superseded checkpoint is given up when no other evaluation needs it") {
  auto all = two();
  all.offer({10});
  all.at(0).begin(0s);
  CHECK_MESSAGE(all.offer({20}).empty(), "the first one evaluates it");
  all.at(0).end();
  all.at(0).begin(0s);
  CHECK(all.offer({30}) == std::vector<checkpoint_id>{});
  all.at(0).end();
  CHECK(all.offer({40}) == std::vector<checkpoint_id>{{30}});
}

TEST_CASE("an evaluation that is lost holds nothing, is offered nothing, and what it needed is told") {
  auto all = two();
  all.offer({10});
  all.at(0).begin(0s);
  all.offer({20});
  CHECK(all.lose(0) == std::vector<checkpoint_id>{{20}, {10}});
  CHECK_FALSE(all.are_gates(not_held));
  CHECK(all.are_gates(held));
  CHECK(all.any());
  all.offer({30});
  CHECK_FALSE(all.at(0).waiting());
  CHECK(all.at(1).waiting() == checkpoint_id{30});
  all.at(1).begin(0s);
  all.at(1).end();
  CHECK_MESSAGE(all.have_ended({30}), "the lost one is not awaited");
  all.lose(1);
  CHECK_FALSE(all.any());
}

TEST_CASE(
    "an evaluation takes no part in states that lack one of its groups, until an attempt begins where that is back") {
  evaluations all{{{.name = "a", .throttle_secs = 0, .every_steps = 10, .groups = {group_id{1}, group_id{2}}},
                   {.name = "b", .throttle_secs = 0, .groups = {group_id{3}}}}};
  CHECK(all.leave(group_id{2}, 13) == std::vector<size_t>{0});
  CHECK_MESSAGE(all.leave(group_id{1}, 15).empty(), "it has ended before");
  CHECK(all.takes_part(0, 12));
  CHECK_FALSE(all.takes_part(0, 13));
  CHECK(all.takes_part(1, 13));
  CHECK(all.next_shown(5) == 10);
  CHECK(all.next_shown(12) == INT64_MAX);
  CHECK_FALSE(all.shows(0, 20));
  all.offer({12});
  CHECK(all.at(0).waiting() == checkpoint_id{12});
  all.at(0).drop_waiting();
  all.offer({20});
  CHECK_FALSE(all.at(0).waiting());
  CHECK(all.at(1).waiting() == checkpoint_id{20});
  all.at(1).begin(0s);
  all.at(1).end();
  CHECK_MESSAGE(all.have_ended({20}), "the other one is not awaited");
  all.offer_last({20});
  CHECK(all.idle());
  all.begin({10});
  CHECK(all.takes_part(0, 20));
}

TEST_CASE("the last checkpoint is offered only to those that have not evaluated it") {
  auto all = two();
  all.offer({10});
  all.at(0).begin(0s);
  all.at(0).end();
  all.at(1).drop_waiting();
  all.offer_last({10});
  CHECK_FALSE(all.at(0).waiting());
  CHECK(all.at(1).waiting() == checkpoint_id{10});
}

TEST_CASE("a job without evaluations waits for none") {
  evaluations none;
  CHECK_FALSE(none.any());
  CHECK_FALSE(none.are_gates(held));
  CHECK(none.idle());
  CHECK(none.offer({10}).empty());
}

}  // namespace troupe::test
