// The questions to evaluators about predicates, as plain data without actors.
#include "actors/chief/rule_questions.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

TEST_CASE("a question is answered once, and one whose evaluator is lost no more") {
  rule_questions open;
  const auto first = open.ask({0, 1}, evaluated{.id = {10}}), second = open.ask({1, 0}, {});
  CHECK(open.hold_result_of(0));
  CHECK_FALSE(open.hold_result_of(1));
  REQUIRE(open.asked_of(0));
  CHECK(open.asked_of(0)->what.rule == 1);
  open.drop(1);
  CHECK_FALSE(open.take(second));
  const auto taken = open.take(first);
  REQUIRE(taken);
  CHECK(taken->of->id == checkpoint_id{10});
  CHECK_FALSE(open.take(first));
  CHECK(open.empty());
}

TEST_CASE("a new attempt forgets what was asked where the one before began, and keeps results that wait") {
  rule_questions open;
  const auto of_result = open.ask({0, 0}, evaluated{.id = {10}}), at_start = open.ask({0, 0, true}, {});
  open.begin_attempt();
  CHECK_FALSE(open.take(at_start));
  CHECK(open.take(of_result));
}

}  // namespace troupe::test
