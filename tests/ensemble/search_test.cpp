#include "ensemble/search.hpp"

#include "tests/ensemble/simulated_search.hpp"
#include "tests/support/refused.hpp"

namespace troupe::test {

namespace {

using cause = end_search::cause;
using builder_specs = simulated_search::builders;

/// A search with as many builders, "a", "b" and so on.
simulated_search with_builders(size_t count, search_limits limits) {
  simulated_search s;
  s.rules.limits = std::move(limits);
  s.generate = [count](int64_t) {
    builder_specs all;
    for (size_t i = 0; i < count; ++i)
      all.push_back({std::string(1, static_cast<char>('a' + i))});
    return all;
  };
  return s;
}

void ends_at(simulated_search s, cause why, int64_t iteration, int64_t global_step) {
  const auto end = s.run();
  CHECK(end.why == why);
  CHECK(s.books().iteration() == iteration);
  CHECK(s.books().global_step == global_step);
}

/// The builders of an ensemble: "a b".
std::string builders_of(const architecture& a) {
  std::string text;
  for (const auto& member : a.members)
    text += (text.empty() ? "" : " ") + member.builder;
  return text;
}

/// The names of reports, with a star for those that are included.
std::string starred(const std::vector<materialized_report>& reports) {
  std::string text;
  for (const auto& r : reports)
    text += (text.empty() ? "" : " ") + r.name + (r.included ? "*" : "");
  return text;
}

/// Candidates whose name has this letter as builder have the lesser loss.
float prefers(char builder, const std::string& spec) {
  return spec.find(std::string{"_"} + builder + "_") != std::string::npos ? .5f : 2.f;
}

}  // namespace

// -- how far it comes ----------------------------------------------------------------------

TEST_CASE("[ADA-22.1 one step] a single step stays in iteration 0") {
  ends_at(with_builders(1, {.max_iteration_steps = 1, .steps = 1}), cause::max_steps, 0, 1);
}

TEST_CASE("[ADA-22.1 three iterations] 300 steps end inside the third iteration of 100") {
  ends_at(with_builders(1, {.max_iteration_steps = 100, .steps = 300}), cause::max_steps, 2, 300);
}

TEST_CASE("[ADA-22.1 endless iteration] without a limit of its own iteration 0 takes all 300 steps") {
  ends_at(with_builders(1, {.steps = 300}), cause::max_steps, 0, 300);
}

TEST_CASE("[ADA-22.1 partial second] max_steps ends the second iteration of 200 half way") {
  ends_at(with_builders(1, {.max_iteration_steps = 200, .max_steps = 300}), cause::max_steps, 1, 300);
}

TEST_CASE("[ADA-22.1 two iterations at most] a limit of two iterations changes nothing if max_steps comes first") {
  ends_at(with_builders(1, {.max_iteration_steps = 200, .max_iterations = 2, .max_steps = 300}), cause::max_steps, 1,
          300);
}

TEST_CASE("[ADA-22.1 limit below iteration] max_steps ends the first iteration of 500 at 300") {
  ends_at(with_builders(1, {.max_iteration_steps = 500, .max_steps = 300}), cause::max_steps, 0, 300);
}

TEST_CASE("[ADA-22.1 one iteration without step limit] a search of one iteration of 200 ends at 200") {
  ends_at(with_builders(2, {.max_iteration_steps = 200, .max_iterations = 1}), cause::max_iterations, 0, 200);
}

TEST_CASE("[ADA-22.1 one iteration beats steps] one iteration of 200 ends before 300 steps are made, with a warning") {
  auto s = with_builders(2, {.max_iteration_steps = 200, .max_iterations = 1, .steps = 300});
  ends_at(s, cause::max_iterations, 0, 200);
  CHECK(s.run().warning == "max_iterations comes before steps: 100 of 300 steps are not made");
}

TEST_CASE("[ADA-22.1 two iterations without step limit] two iterations of 200 end at 400, without a warning") {
  auto s = with_builders(2, {.max_iteration_steps = 200, .max_iterations = 2});
  ends_at(s, cause::max_iterations, 1, 400);
  CHECK(s.run().warning.empty());
}

TEST_CASE("[ADA-22.1 four iterations] 300 steps end with the fourth iteration of 75") {
  ends_at(with_builders(1, {.max_iteration_steps = 75, .max_steps = 300}), cause::max_steps, 3, 300);
}

TEST_CASE(
    "[ADA-22.1 builder stops itself] a builder that stops after 1 step halves the global step, and 200 is reached in "
    "the fourth iteration of 100") {
  auto by_hook = with_builders(2, {.max_iteration_steps = 100, .max_steps = 200});
  by_hook.stops = {{"a", 1}};
  ends_at(by_hook, cause::max_steps, 3, 200);
  auto by_limit = with_builders(2, {.max_iteration_steps = 100, .max_steps = 200});
  by_limit.generate = [](int64_t) { return builder_specs{{"a", 1}, {"b"}}; };
  ends_at(by_limit, cause::max_steps, 3, 200);
}

TEST_CASE("[ADA-22.2 global step] each iteration of 100 in which one of two builders stops after 1 step adds 50") {
  auto s = with_builders(2, {.max_iteration_steps = 100, .max_iterations = 5});
  s.stops = {{"a", 1}};
  s.run();
  std::vector<int64_t> steps;
  for (const auto& winner : s.books().winners)
    steps.push_back(winner.recipe.global_step);
  CHECK(steps == std::vector<int64_t>{50, 100, 150, 200});
  CHECK_MESSAGE(s.ticks == 500, "ticks are made until the other one is complete");
}

// -- winners -------------------------------------------------------------------------------

TEST_CASE(
    "[ADA-22.3 force grow] identical builders never replace the previous ensemble, and force_grow adds one in each "
    "iteration, also in the open one (QUIRK-5)") {
  for (const size_t builders : {1, 2}) {
    auto s = with_builders(builders, {.max_iteration_steps = 1, .max_steps = 3});
    s.run();
    CHECK(s.open_winner().members.size() == 1);
    auto forced = with_builders(builders, {.max_iteration_steps = 1, .max_steps = 3});
    forced.rules.choice.force_grow = true;
    forced.run();
    CHECK(forced.books().iteration() == 2);
    CHECK(forced.open_winner().members.size() == 3);
  }
}

TEST_CASE(
    "[ADA-22.3 force grow] two identical builders under force_grow and an evaluator have three members in the third "
    "iteration") {
  auto s = with_builders(2, {.max_iteration_steps = 1, .max_steps = 3});
  s.rules.choice = {.force_grow = true, .evaluator = metric_rule{}};
  s.run();
  CHECK(s.open_winner().members.size() == 3);
  CHECK(s.evaluations == 2);
}

TEST_CASE(
    "[ADA-22.7 replay] a search that repeats the indices of another one ends with the same architecture, whatever its "
    "losses and its evaluator say") {
  const search_limits limits{.max_iteration_steps = 10, .max_steps = 30};
  auto first = with_builders(3, limits);
  first.loss = [](const std::string& spec, int64_t tick) {
    return tick <= 10 ? prefers('b', spec) : tick <= 20 ? 1.f : prefers('c', spec) / 2;
  };
  first.run();
  const auto architecture = first.open_winner();
  CHECK(architecture.replay_indices == std::vector<int64_t>{1, 0, 3});
  CHECK(builders_of(architecture) == "b c");

  auto second = with_builders(3, limits);
  second.rules.choice = {.replay = architecture.replay_indices,
                         .evaluator = metric_rule{"adanet_loss", objective::maximize}};
  second.loss = [](const std::string& spec, int64_t) { return prefers('a', spec); };
  second.score = [](const std::string& spec) { return static_cast<double>(prefers('a', spec)); };
  second.run();
  CHECK(second.open_winner() == architecture);
  CHECK_MESSAGE(second.evaluations == 0, "a replay evaluates nothing");
}

TEST_CASE("[ADA-22.7 replay] the indices 2, 3 and 1 choose the third builder, the third again, and the first") {
  auto s = with_builders(3, {.max_iteration_steps = 10, .max_steps = 30});
  s.rules.choice.replay = {2, 3, 1};
  s.run();
  CHECK(builders_of(s.open_winner()) == "c c a");
  CHECK(s.open_winner().replay_indices == std::vector<int64_t>{2, 3, 1});
}

TEST_CASE("an evaluator is asked at the end of each iteration, and its scores decide against the averages") {
  auto s = with_builders(2, {.max_iteration_steps = 10, .max_iterations = 3});
  s.rules.choice.evaluator = metric_rule{};
  s.loss = [](const std::string& spec, int64_t) { return prefers('a', spec); };
  s.score = [](const std::string& spec) { return static_cast<double>(prefers('b', spec)); };
  s.run();
  CHECK(s.evaluations == 2);
  CHECK(builders_of(s.books().winners.front().recipe) == "b");
  CHECK(s.choices.front().why == "the least adanet_loss of the evaluation, 0.5");
}

TEST_CASE("the previous ensemble competes with the average that it had when it was chosen") {
  auto s = with_builders(1, {.max_iteration_steps = 5, .max_iterations = 3});
  s.loss = [](const std::string& spec, int64_t) { return spec.starts_with("t0") ? 1.f : 1.5f; };
  s.run();
  CHECK(s.books().winners[1].spec == "t0_a_grow_mean");
  CHECK(s.books().winners[1].made_in == 0);
  CHECK(s.books().winners[1].average == s.books().winners[0].average);
  CHECK(s.books().winners[1].recipe.iteration == 1);
  CHECK(s.books().winners[1].recipe.replay_indices == std::vector<int64_t>{0, 0});
}

// -- reports -------------------------------------------------------------------------------

TEST_CASE("[ADA-22.4 reports] one iteration of one builder gives one report, included, and its generator saw none") {
  auto s = with_builders(1, {.max_iteration_steps = 5, .max_iterations = 2});
  s.rules.makes_reports = true;
  s.run();
  REQUIRE(s.books().reports.size() == 1);
  CHECK(starred(s.books().reports[0]) == "a*");
  CHECK(s.seen[0].all.empty());
  CHECK(s.seen[0].previous_ensemble.empty());
}

TEST_CASE("[ADA-22.4 reports] of three builders of which one learns only that one is included") {
  auto s = with_builders(3, {.max_iteration_steps = 5, .max_iterations = 2});
  s.rules.makes_reports = true;
  s.loss = [](const std::string& spec, int64_t) { return prefers('b', spec); };
  s.run();
  CHECK(starred(s.books().reports[0]) == "a b* c");
}

TEST_CASE(
    "[ADA-22.4 reports] in iteration 2 a generator sees the two included reports, and all of iterations 0 and 1 in "
    "order, those of the previous ensemble first") {
  for (const size_t builders : {1, 3}) {
    auto s = with_builders(builders, {.max_iteration_steps = 5, .max_iterations = 4});
    s.rules.makes_reports = true;
    s.loss = [](const std::string& spec, int64_t tick) { return prefers('a', spec) / static_cast<float>(tick); };
    s.run();
    CHECK(starred(s.seen[2].all) == (builders == 1 ? "a* previous_ensemble a*" : "a* b c previous_ensemble a* b c"));
    CHECK(s.seen[2].all.size() == (builders == 1 ? 3 : 7));
    CHECK(starred(s.seen[2].previous_ensemble) == "a* a*");
    CHECK(s.seen[0].all.empty());
    const auto books = s.books();
    for (const size_t iteration : {1, 2}) {
      const auto& first = books.reports[iteration][0];
      CHECK(first.name == "previous_ensemble");
      CHECK(first.hparams.empty());
      CHECK_FALSE(first.included);
    }
  }
}

// -- stops ---------------------------------------------------------------------------------

TEST_CASE("an input that ends ends training without a choice, except where the iteration ends with it") {
  auto s = with_builders(2, {.max_iteration_steps = 100});
  s.input_ticks = 70;
  ends_at(s, cause::input_ended, 0, 70);
  s.input_ticks = 100;
  ends_at(s, cause::input_ended, 1, 100);
}

TEST_CASE("a subnetwork that is not finite leaves with its ensembles, and the others go on to where they would") {
  auto s = with_builders(2, {.max_iteration_steps = 100, .max_iterations = 2});
  s.strategies = {strategy::grow(), strategy::all()};
  s.loss = [](const std::string& spec, int64_t) { return prefers('a', spec); };
  s.stops = {{"a", 10, stop_cause::dropped}};
  s.run();
  CHECK(builders_of(s.books().winners[0].recipe) == "b");
  CHECK(s.books().winners[0].recipe.global_step == 100);
  const auto& lost = s.choices[0].candidates;
  CHECK(lost[0].lost == "it has left: dropped after 10 steps: it reads t0_a");
  CHECK(lost[2].lost == lost[0].lost);
  CHECK(s.files.at("train_manager/t0/t0_a.json") == R"({"message": "dropped after 10 steps: the loss is nan"})");
}

TEST_CASE(
    "where all new subnetworks leave, the previous ensemble goes on to the end of the iteration, under force_grow "
    "too") {
  auto s = with_builders(1, {.max_iteration_steps = 100, .max_iterations = 1});
  s.run();
  s.rules.limits.max_iterations = 3;
  s.rules.choice.force_grow = true;
  s.stops = {{"a", 7, stop_cause::dropped}};
  s.run();
  CHECK(s.books().winners[1].spec == "t0_a_grow_mean");
  CHECK(s.books().begins_at == 200);
  CHECK(s.books().global_step > 200);
}

TEST_CASE("train_until says how far training may go by what is known, and events change it") {
  search s{{.limits = {.max_iteration_steps = 100}}};
  const auto until = [&s] { return std::get<train_until>(s.wanted()).until; };
  const auto specs = specs_of(0, {{"a"}, {"b", 40}}, {}, {strategy::grow()}, {"mean"});
  REQUIRE(s.begin({}, *specs));
  CHECK(s.wanted() == search_command{train_until{0, 0, 100}});
  REQUIRE(s.stopped("t0_a", {stop_cause::hook, 60}));
  CHECK(until() == 60);
  REQUIRE(s.stopped("t0_a", {stop_cause::end_of_input, 80}));
  CHECK_MESSAGE(until() == 60, "the first stop counts");
  REQUIRE(s.dropped("t0_a", 30, "nan"));
  CHECK_MESSAGE(until() == 60, "a drop changes no end");
  REQUIRE(s.stopped("t0_a", {stop_cause::hook, 50}));
  CHECK(until() == 50);
  REQUIRE(s.input_ended(35));
  CHECK(until() == 35);
  REQUIRE(s.stop(33, "a signal"));
  CHECK(until() == 33);
}

TEST_CASE("a stop makes a limit in global steps later, because the mean of the steps grows more slowly") {
  search s{{.limits = {.max_iteration_steps = 100, .max_steps = 50}}};
  const auto specs = specs_of(0, {{"a"}, {"b"}}, {}, {strategy::grow()}, {"mean"});
  REQUIRE(s.begin({}, *specs));
  CHECK(std::get<train_until>(s.wanted()).until == 50);
  REQUIRE(s.stopped("t0_a", {stop_cause::hook, 10}));
  CHECK(std::get<train_until>(s.wanted()).until == 90);
}

TEST_CASE("without any limit a search trains until it is stopped, and then ends with its iteration open") {
  search s{{}};
  const auto specs = specs_of(0, {{"a"}}, {}, {strategy::grow()}, {"mean"});
  REQUIRE(s.begin({}, *specs));
  CHECK(s.wanted() == search_command{train_until{0, 0, {}}});
  REQUIRE(s.reached(17));
  REQUIRE(s.stop(20, "early: loss lower than 0.3"));
  REQUIRE(s.measured(20, {}));
  REQUIRE(s.committed(20));
  const auto& end = std::get<end_search>(s.wanted());
  CHECK(end.why == cause::stopped);
  CHECK(end.text == "early: loss lower than 0.3: the global step is 20 in iteration 0");
}

TEST_CASE("a request to stop is heard between two iterations, and where it meets the end of one nothing is chosen") {
  const auto specs = specs_of(0, {{"a"}, {"b"}}, {}, {strategy::grow()}, {"mean"});
  search scoring{{.limits = {.max_iteration_steps = 5}, .choice = {.evaluator = metric_rule{}}}};
  REQUIRE(scoring.begin({}, *specs));
  REQUIRE(scoring.measured(5, {}));
  REQUIRE(scoring.committed(5));
  REQUIRE(std::holds_alternative<score_candidates>(scoring.wanted()));
  REQUIRE(scoring.stop(5, "a signal"));
  CHECK(std::get<end_search>(scoring.wanted()).why == cause::stopped);

  search over{{.limits = {.max_iteration_steps = 5}}};
  REQUIRE(over.begin({}, *specs));
  REQUIRE(over.stop(5, "a signal"));
  REQUIRE(over.measured(5, {}));
  REQUIRE(over.committed(5));
  CHECK(std::get<end_search>(over.wanted()).why == cause::stopped);
}

// -- trouble -------------------------------------------------------------------------------

TEST_CASE("a search of which no candidate is left fails with the first cause") {
  search s{{.limits = {.max_iteration_steps = 100}}};
  const auto specs = specs_of(0, {{"a"}, {"b"}}, {}, {strategy::grow()}, {"mean"});
  REQUIRE(s.begin({}, *specs));
  REQUIRE(s.dropped("t0_a", 30, "the gradient is nan"));
  refused(
      s.dropped("t0_b", 20, "the loss is nan"), errc::nan_loss,
      "no candidate of iteration 0 is left; the first to leave was 't0_b', dropped after 20 steps: the loss is nan");
}

TEST_CASE("scores without the metric, and a replay without a candidate, are errors of the choice") {
  const auto specs = specs_of(0, {{"a"}, {"b"}}, {}, {strategy::grow()}, {"mean"});
  search by_metric{{.limits = {.max_iteration_steps = 1}, .choice = {.evaluator = metric_rule{"auc"}}}};
  REQUIRE(by_metric.begin({}, *specs));
  REQUIRE(by_metric.measured(1, {}));
  REQUIRE(by_metric.committed(1));
  refused(by_metric.scored({{{"loss", 1.}}, {{"loss", 1.}}}), errc::key_missing, "'auc'; it has loss");
  search replay{{.limits = {.max_iteration_steps = 1}, .choice = {.replay = {2}}}};
  REQUIRE(replay.begin({}, *specs));
  REQUIRE(replay.measured(1, {}));
  refused(replay.committed(1), errc::invalid_argument, "there are only 2 candidates");
}

TEST_CASE("where a search with an evaluator ends, its result needs scores, and follows them") {
  const auto specs = specs_of(0, {{"a"}, {"b"}}, {}, {strategy::grow()}, {"mean"});
  REQUIRE(specs);
  const auto first = specs->candidates[0].spec, second = specs->candidates[1].spec;
  search s{{.limits = {.max_iteration_steps = 1, .max_iterations = 1}, .choice = {.evaluator = metric_rule{"loss"}}}};
  REQUIRE(s.begin({}, *specs));
  REQUIRE(s.measured(1, {{first, {0.25f, 0.25f, 1}}, {second, {0.5f, 0.5f, 1}}}));
  CHECK_FALSE(s.scores_at_end());
  REQUIRE(s.committed(1));
  REQUIRE(std::holds_alternative<end_search>(s.wanted()));
  CHECK(s.scores_at_end() == checkpoint_id{1, 0});
  CHECK(s.result()->spec == first);
  refused(s.scored({{{"auc", 1.}}, {{"auc", 1.}}}), errc::key_missing, "no metric 'loss'");
  REQUIRE(s.scored({{{"loss", 2.}}, {{"loss", 1.}}}));
  CHECK_FALSE(s.scores_at_end());
  CHECK(s.result()->spec == second);
}

TEST_CASE("a global step that falls is found at the tick where it does") {
  search s{
      {.limits = {.combine = [](const std::vector<int64_t>& steps) { return steps[0] < 10 ? double(steps[0]) : 3.; }}}};
  REQUIRE(s.begin({}, *specs_of(0, {{"a"}}, {}, {strategy::grow()}, {"mean"})));
  REQUIRE(s.reached(9));
  refused(s.reached(10), errc::state, "the global step falls from 9 at tick 9 to 3 at tick 10");
}

}  // namespace troupe::test
