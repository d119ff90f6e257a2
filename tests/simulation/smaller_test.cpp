#include "tests/simulation/smaller.hpp"

#include <doctest/doctest.h>

namespace troupe::test::random_faults {

TEST_CASE("a recipe that breaks a rule is made smaller: what has no part in it is dropped, and the rule stays broken") {
  // A trouble that only takes time must not fail a job. Two hours exceed every deadline, so this one breaks that rule.
  recipe r;
  r.hosts = 2;
  r.replicas = 4;
  r.max_steps = 40;
  r.save_steps = 5;
  r.summary_steps = 3;
  r.evaluates = r.hooks = true;
  r.watch_every = 2;
  r.conditions.cost["replica"] = {std::chrono::microseconds{10}, std::chrono::microseconds{90}};
  r.conditions.place["infeed/1"] = "far";
  r.conditions.link = {std::chrono::microseconds{10}, std::chrono::microseconds{90}};
  trouble hang{
      .what = trouble_kind::busy, .when = {moment::progress, 12, 0}, .node = "outfeed", .lasts = std::chrono::hours{2}};
  trouble small{.what = trouble_kind::busy,
                .when = {moment::beginning, 0, 20},
                .node = "infeed/0",
                .lasts = std::chrono::milliseconds{5}};
  r.disturbed = {{.schedule = 4, .troubles = {small, hang}}, {.schedule = 5, .troubles = {small}}};

  const auto findings = judge(play(r));
  REQUIRE_FALSE(findings.empty());
  const auto& rule = findings.front().rule;
  const auto less = make_smaller(r, rule);
  REQUIRE_FALSE(less.findings.empty());
  CHECK(std::any_of(less.findings.begin(), less.findings.end(), [&](const finding& f) { return f.rule == rule; }));
  REQUIRE(less.what.disturbed.size() == 1);
  REQUIRE(less.what.disturbed[0].troubles.size() == 1);
  CHECK(less.what.disturbed[0].troubles[0].lasts == std::chrono::hours{2});
  CHECK_FALSE(less.what.evaluates);
  CHECK_FALSE(less.what.hooks);
  CHECK(less.what.summary_steps == 0);
  CHECK(less.what.conditions.cost.empty());
  CHECK(less.what.conditions.place.empty());
  CHECK(judge(play(less.what)).front().rule == less.findings.front().rule);
}

}  // namespace troupe::test::random_faults
