#include "ensemble/search.hpp"
#include "tests/ensemble/simulated_search.hpp"
#include "tests/support/refused.hpp"

namespace troupe::test {

namespace {

using restarted_builders = simulated_search::builders;

/// Three iterations with everything: an evaluator, reports, a builder that stops itself, one that is not finite,
/// commits within iterations.
simulated_search eventful() {
  simulated_search s;
  s.rules = {.limits = {.max_iteration_steps = 20, .max_iterations = 3},
             .choice = {.evaluator = metric_rule{}},
             .makes_reports = true};
  s.strategies = {strategy::grow(), strategy::all(), strategy::solo()};
  s.ensemblers = {"mean", "learned"};
  s.generate = [](int64_t iteration) {
    return iteration == 1 ? restarted_builders{{"b"}, {"c"}} : restarted_builders{{"a", 12}, {"b"}, {"c"}};
  };
  s.stops = {{"b", 5}, {"c", 9, stop_cause::dropped}};
  s.loss = [](const std::string& spec, int64_t tick) {
    return 1 / static_cast<float>(tick + static_cast<int64_t>(spec.size()));
  };
  s.score = [](const std::string& spec) { return 1 / static_cast<double>(spec[1] + spec[3]); };
  s.save_every = 7;
  return s;
}

/// Compares what two searches leave behind.
void check_same(const simulated_search& a, const simulated_search& b) {
  CHECK_MESSAGE((a.files == b.files), "files differ");
  REQUIRE(a.commits.size() == b.commits.size());
  for (size_t i = 0; i < a.commits.size(); ++i) {
    CHECK(a.commits[i].id == b.commits[i].id);
    CHECK_MESSAGE((a.commits[i].books == b.commits[i].books), "books of " << to_string(a.commits[i].id) << " differ");
  }
}

/// A search of one builder whose first iteration is complete and open.
simulated_search complete_and_open() {
  simulated_search s;
  s.rules.limits = {.max_iteration_steps = 10, .max_steps = 10};
  s.run();
  return s;
}

}  // namespace

TEST_CASE("a process that is killed before any action leaves the next ones to make the same commits, books and files") {
  auto whole = eventful();
  whole.run();
  REQUIRE(whole.actions > 20);
  REQUIRE(whole.books().iteration() == 2);
  for (int64_t action = 0; action < whole.actions; ++action) {
    CAPTURE(action);
    auto killed = eventful();
    killed.crash_at = action;
    const auto end = killed.run_again_and_again();
    CHECK(end.why == end_search::cause::max_iterations);
    check_same(killed, whole);
  }
}

TEST_CASE("a process that is killed twice, first anywhere and then soon again, changes nothing either") {
  auto whole = eventful();
  whole.run();
  for (int64_t first = 0; first < whole.actions; first += 3)
    for (int64_t later = 1; later < 6; ++later) {
      auto killed = eventful();
      killed.crash_at = first;
      CHECK_THROWS_AS(killed.run(), crash);
      killed.crash_at = first + later;  // Or beyond its end.
      killed.run_again_and_again();
      check_same(killed, whole);
    }
}

TEST_CASE("a complete iteration that was left open is chosen from and grown without another tick") {
  auto s = complete_and_open();
  REQUIRE(s.books().iteration() == 0);
  REQUIRE(s.ticks == 10);
  s.rules.limits.max_steps = 15;
  CHECK(s.run().why == end_search::cause::max_steps);
  CHECK(s.ticks == 15);
  CHECK(s.books().iteration() == 1);
  CHECK(s.files.contains("architecture-0.json"));
}

TEST_CASE("training that has reached max_steps already makes no tick and chooses nothing") {
  auto s = complete_and_open();
  const auto commits = s.commits.size();
  CHECK(s.run().text == "max_steps: the global step is 10 in iteration 0");
  CHECK(s.ticks == 10);
  CHECK(s.commits.size() == commits);
  CHECK_FALSE(s.files.contains("architecture-0.json"));
}

TEST_CASE("steps are counted from the commit at which a process begins, and not again when an attempt does") {
  simulated_search s;
  s.rules.limits = {.max_iteration_steps = 10, .steps = 15};
  s.run();
  CHECK(s.books().global_step == 15);
  s.run();
  CHECK(s.books().global_step == 30);

  search again{{.limits = {.steps = 15}}};
  const auto specs = specs_of(0, {{"a"}}, {}, {strategy::grow()}, {"mean"});
  REQUIRE(again.begin({}, *specs));
  REQUIRE(again.measured(10, {}));
  REQUIRE(again.begin(again.books_at(10), *specs));
  CHECK(std::get<train_until>(again.wanted()).until == 15);
}

TEST_CASE("a spec that has stopped stays stopped when the limits are higher, and one above a lower limit is complete") {
  simulated_search s;
  s.rules.limits = {.max_iteration_steps = 10, .max_iterations = 1};
  s.generate = [](int64_t) { return restarted_builders{{"a"}, {"b"}}; };
  s.stops = {{"a", 3}};
  s.run();
  REQUIRE(s.books().tick == 10);
  search higher{{.limits = {.max_iteration_steps = 20}}};
  const auto specs = specs_of(0, {{"a"}, {"b"}}, {}, {strategy::grow()}, {"mean"});
  REQUIRE(higher.begin(s.books(), *specs));
  CHECK_MESSAGE(std::holds_alternative<grow_into>(higher.wanted()), "both have stopped for good");

  simulated_search early;
  early.rules.limits = {.max_iteration_steps = 10, .max_steps = 8};
  early.run();
  search lower{{.limits = {.max_iteration_steps = 5, .max_iterations = 1}}};
  REQUIRE(lower.begin(early.books(), *specs_of(0, {{"a"}}, {}, {strategy::grow()}, {"mean"})));
  CHECK(std::get<end_search>(lower.wanted()).why == end_search::cause::max_iterations);
  CHECK(to_text(*lower.books_at(8).subnetworks[0].stop) == "was already complete after 8 steps");
}

TEST_CASE("a stop that lies ahead of a commit is in its books, and a drop is not") {
  search s{{.limits = {.max_iteration_steps = 100}}};
  REQUIRE(s.begin({}, *specs_of(0, {{"a"}, {"b"}}, {}, {strategy::grow()}, {"mean"})));
  REQUIRE(s.stopped("t0_a", {stop_cause::hook, 30}));
  REQUIRE(s.dropped("t0_b", 25, "nan"));
  REQUIRE(s.measured(20, {}));
  const auto before = s.books_at(20);
  CHECK(before.subnetworks[0] == search_books::subnetwork{"a", 20, spec_stop{stop_cause::hook, 30}});
  CHECK(before.subnetworks[1] == search_books::subnetwork{"b", 20});
  CHECK_FALSE(before.candidates[1].stop);
  REQUIRE(s.measured(28, {}));
  const auto after = s.books_at(28);
  CHECK(after.subnetworks[0].step == 28);
  CHECK(after.subnetworks[1] == search_books::subnetwork{"b", 25, spec_stop{stop_cause::dropped, 25, "nan"}});
  CHECK(after.candidates[1].stop == spec_stop{stop_cause::dropped, 25, "it reads t0_b"});
  CHECK(after.global_step == 28);
}

TEST_CASE("why an ensemble has left does not depend on whether it or its subnetwork was heard first") {
  const auto books = [](std::vector<std::string> order) {
    search s{{.limits = {.max_iteration_steps = 10}}};
    iteration_specs specs{
        {{"a"}, {"b"}},
        {{"t0_ab", {"ab", "mean", {{0, "a"}, {0, "b"}}, {}, 0, 0}}, {"t0_c", {"c", "mean", {}, {}, 0, 0}}}};
    REQUIRE(s.begin({}, specs));
    for (const auto& who : order)
      REQUIRE(s.dropped(who, 4, "nan"));
    REQUIRE(s.measured(5, {}));
    return books_text(s.books_at(5));
  };
  const auto first = books({"t0_a", "t0_b", "t0_ab"});
  for (const auto& order :
       {std::vector<std::string>{"t0_ab", "t0_b", "t0_a"}, {"t0_b", "t0_ab", "t0_a"}, {"t0_a", "t0_ab", "t0_b"}})
    CHECK(books(order) == first);
}

TEST_CASE("an ensemble whose weights have stopped leaves all the same with a subnetwork that it reads") {
  search s{{.limits = {.max_iteration_steps = 100}}};
  REQUIRE(s.begin({}, *specs_of(0, {{"a"}, {"b"}}, {}, {strategy::grow()}, {"mean"})));
  REQUIRE(s.stopped("t0_a_grow_mean", {stop_cause::hook, 20}));
  REQUIRE(s.dropped("t0_a", 30, "nan"));
  REQUIRE(s.stopped("t0_a_grow_mean", {stop_cause::hook, 25}));
  REQUIRE(s.measured(40, {}));
  CHECK(s.books_at(40).candidates[0].stop
        == spec_stop{stop_cause::dropped, 30, "it reads t0_a", spec_stop::other{stop_cause::hook, 20}});
}

TEST_CASE("a subnetwork that is dropped after it has stopped keeps its steps, in whatever order both are heard") {
  for (const bool hook_first : {true, false})
    for (const bool by_limit : {true, false}) {
      search s{{.limits = {.max_iteration_steps = 100}}};
      std::vector<subnetwork_spec> builders{{"a"}, {"b"}};
      if (by_limit)
        builders[0].steps_max = 20;
      REQUIRE(s.begin({}, *specs_of(0, builders, {}, {strategy::grow()}, {"mean"})));
      const auto stop = [&] {
        return by_limit ? expected<void>{} : s.stopped("t0_a", {stop_cause::hook, 20, "enough"});
      };
      if (hook_first)
        REQUIRE(stop());
      REQUIRE(s.dropped("t0_a", 40, "nan"));
      if (!hook_first)
        REQUIRE(stop());
      const auto cause = by_limit ? stop_cause::complete : stop_cause::hook;
      const std::string detail = by_limit ? "" : "enough";
      for (const int64_t tick : {30, 40, 60}) {
        REQUIRE(s.measured(tick, {}));
        const auto books = s.books_at(tick);
        CHECK(books.global_step == (20 + tick) / 2);
        CHECK(books.subnetworks[0].step == 20);
        // Books of states before the drop know the stop.
        const auto known = tick < 40 ? spec_stop{cause, 20, detail}
                                     : spec_stop{stop_cause::dropped, 40, "nan", spec_stop::other{cause, 20, detail}};
        CHECK(books.subnetworks[0].stop == known);
        const auto read = parse_books(books_text(books), "books");
        REQUIRE_MESSAGE(read, read.error().message);
        CHECK(*read == books);
      }
      CHECK(s.has_left("t0_a", 40));
      CHECK_FALSE(s.has_left("t0_a", 39));
    }
}

TEST_CASE("an attempt that begins again knows nothing of the end of the input that another one has met") {
  search s{{.limits = {.max_iteration_steps = 100}}};
  const auto specs = specs_of(0, {{"a"}}, {}, {strategy::grow()}, {"mean"});
  REQUIRE(s.begin({}, *specs));
  REQUIRE(s.input_ended(35));
  REQUIRE(s.begin({}, *specs));
  CHECK(std::get<train_until>(s.wanted()).until == 100);
}

TEST_CASE("events that are repeated, or late, change nothing") {
  search s{{.limits = {.max_iteration_steps = 10}, .choice = {.evaluator = metric_rule{}}}};
  REQUIRE(s.begin({}, *specs_of(0, {{"a"}, {"b"}}, {}, {strategy::grow()}, {"mean"})));
  for (int i = 0; i < 2; ++i) {
    REQUIRE(s.reached(4));
    REQUIRE(s.stopped("t0_a", {stop_cause::hook, 4}));
    REQUIRE(s.measured(10, {}));
    REQUIRE(s.committed(10));
    CHECK(s.wanted() == search_command{score_candidates{{10, 0}}});
  }
  const candidate_scores scores{{{"adanet_loss", 2.}}, {{"adanet_loss", 1.}}};
  REQUIRE(s.scored(scores));
  const auto growth = s.wanted();
  REQUIRE(std::holds_alternative<grow_into>(growth));
  REQUIRE(s.scored({{{"adanet_loss", 1.}}, {{"adanet_loss", 2.}}}));
  s.reported({});
  REQUIRE(s.committed(10));
  CHECK(s.wanted() == growth);
}

TEST_CASE("a generator or a strategy that returns others after a restart is refused, with both lists") {
  search s{{.limits = {.max_iteration_steps = 10}}};
  REQUIRE(s.begin({}, *specs_of(0, {{"a"}, {"b"}}, {}, {strategy::grow()}, {"mean"})));
  const auto books = s.books_at(0);
  refused(search{{}}.begin(books, *specs_of(0, {{"a"}, {"c"}}, {}, {strategy::grow()}, {"mean"})),
          errc::failed_precondition, "iteration 0 began with the subnetworks a, b, and now has a, c");
  refused(search{{}}.begin(books, *specs_of(0, {{"a"}, {"b"}}, {}, {strategy::solo()}, {"mean"})),
          errc::failed_precondition,
          "candidates t0_a_grow_mean (a), t0_b_grow_mean (b), and now has t0_a_solo_mean (a), t0_b_solo_mean (b)");
}

}  // namespace troupe::test
