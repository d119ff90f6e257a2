#include "tests/simulation/scenario.hpp"

#include "pipeline/random_faults/run.hpp"

#include <doctest/doctest.h>

namespace troupe::test::random_faults {

TEST_CASE("a scenario fixes what it says, and its seed draws the rest") {
  const auto s = scenario::parse(R"(
    title = "two hosts"
    [job]
    hosts = 2
    replicas = 4
    shards = false
    max_steps = 30
    save_steps = 7
    [hook]
    there = false
    [world]
    order = "starving"
    starved = "outfeed"
    cost_us = { replica = [100, 500] }
    [[run]]
    wall_clock_s = -60
    [[run.trouble]]
    what = "cut"
    place = "host/1"
    lasts_ms = 2500
    after = "progress"
    step = 9
  )",
                                 "here");
  REQUIRE_MESSAGE(s.has_value(), to_text(s.error()));
  CHECK(s->title() == "two hosts");
  bool drawn = false;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto r = s->draw(seed), plain = draw_timed_recipe(seed);
    CHECK(r.hosts == 2);
    CHECK(r.replicas == 4);
    CHECK_FALSE(r.shards);
    CHECK(r.save_steps == 7);
    CHECK_FALSE(r.hooks);
    CHECK(r.conditions.order == turn_order::starving);
    CHECK(r.conditions.cost.size() == 1);
    CHECK((r.conditions.cost.at("replica")
           == duration_range{std::chrono::microseconds{100}, std::chrono::microseconds{500}}));
    CHECK(r.keep_max == plain.keep_max);
    CHECK(r.recovers == plain.recovers);
    drawn = drawn || r.keep_max != s->draw(seed + 1).keep_max;
    REQUIRE(r.disturbed.size() == 1);
    CHECK(r.disturbed[0].wall_clock_s == -60);
    CHECK(r.disturbed[0].schedule == seed);
    REQUIRE(r.disturbed[0].troubles.size() == 1);
    const auto& t = r.disturbed[0].troubles[0];
    CHECK(t.what == trouble_kind::cut);
    CHECK(t.place == "host/1");
    CHECK(t.lasts == std::chrono::milliseconds{2500});
    CHECK(t.when.after == moment::progress);
    CHECK(t.when.step == 9);
  }
  CHECK(drawn);
}

TEST_CASE("a recipe that is written as a scenario and read again is the same one, whatever its troubles") {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    const auto r = draw_timed_recipe(seed);
    const auto s = scenario::parse(to_toml(r, "again"), "here");
    REQUIRE_MESSAGE(s.has_value(), to_text(s.error()));
    CHECK(to_text(s->draw(seed)) == to_text(r));
  }
  const auto r = draw_timed_recipe(3);
  CHECK(play(scenario::parse(to_toml(r, "again"), "here")->draw(3)).disturbed.at(0).trace_hash
        == play(r).disturbed.at(0).trace_hash);
}

TEST_CASE("a scenario that is wrong is refused with its line, the key and what would be right") {
  const auto message_of = [](const char* text) {
    const auto s = scenario::parse(text, "x.toml");
    return s ? std::string{"no error"} : s.error().message;
  };
  CHECK(message_of("[job]\nhosts = \"two\"") == "x.toml, line 2: job.hosts: wanted a whole number of its size");
  CHECK(message_of("[job]\nhosts = 4294967298") == "x.toml, line 2: job.hosts: wanted a whole number of its size");
  CHECK(message_of("[world]\norder = \"fair\"")
        == "x.toml, line 2: world.order: wanted one of uniform, priorities, starving");
  CHECK(message_of("[world]\nlink_us = 3") == "x.toml, line 2: world.link_us: wanted [least, most] in microseconds");
  CHECK(message_of("[[run]]\n[[run.trouble]]\nwhat = \"flood\"")
            .starts_with("x.toml, line 3: run.trouble.what: wanted one of kill, stop"));
  CHECK(message_of("[jobs]\n").starts_with("x.toml, line 1: jobs: wanted known: "));
  CHECK(message_of("title = ").starts_with("x.toml, line 1: "));
  CHECK(message_of("[job]\nlog_steps = 0") == "x.toml: job.log_steps is 0: wanted 1 to 100000");
  CHECK(message_of("[job]\nhosts = 0") == "x.toml: job.hosts is 0: wanted 1 to 64");
  CHECK(message_of("[world]\ncost_us = { replica = [-5, 9223372036854775807] }")
            .starts_with("x.toml: world.cost_us.replica: wanted [least, most]"));
  CHECK(message_of("[world]\nlink_us = [9, 3]").starts_with("x.toml: world.link_us: wanted"));
  CHECK(message_of("[world]\nstarved = \"nobody\"").starts_with("x.toml: world.starved is \"nobody\": wanted a node"));
  CHECK(message_of("[[run]]\n[[run.trouble]]\nlasts_ms = 9223372036854775807")
            .starts_with("x.toml: run.trouble.lasts_ms is 9223372036854775807"));
  CHECK(scenario::read("/nowhere/at/all.toml").error().category == errc::not_found);
}

}  // namespace troupe::test::random_faults
