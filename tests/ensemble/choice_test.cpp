#include "ensemble/choice.hpp"

#include "ensemble/search.hpp"
#include "tests/support/refused.hpp"

#include <limits>

namespace troupe::test {

namespace {

const float not_a_number = std::numeric_limits<float>::quiet_NaN();

/// Candidates "a", "b" and so on, whose averages were updated once.
std::vector<contender> with_averages(std::initializer_list<float> averages) {
  std::vector<contender> all;
  for (const float average : averages) {
    all.push_back({std::string(1, static_cast<char>('a' + all.size()))});
    all.back().average.update(average, .9f);
  }
  return all;
}

candidate_scores scores_of(std::initializer_list<double> values, const std::string& metric = "adanet_loss") {
  candidate_scores all;
  for (const double value : values)
    all.push_back({{metric, value}});
  return all;
}

choice chosen(const choice_rules& rules, int64_t iteration, const std::vector<contender>& all,
              const candidate_scores& scores = {}) {
  const auto c = choose(rules, iteration, all, scores);
  REQUIRE_MESSAGE(c, c.error().message);
  return *c;
}

const choice_rules by_averages{}, forced{.force_grow = true}, by_evaluator{.evaluator = metric_rule{}},
    forced_by_evaluator{.force_grow = true, .evaluator = metric_rule{}};

}  // namespace

TEST_CASE("without other rules the least moving average wins, and the lowest index among equals") {
  CHECK(chosen(by_averages, 0, with_averages({3, 1, 2})).winner == 1);
  CHECK(chosen(by_averages, 0, with_averages({2, 1, 1})).winner == 1);
  CHECK_MESSAGE(chosen(by_averages, 1, with_averages({1, 1})).winner == 0,
                "an equal newcomer does not replace the previous ensemble");
}

TEST_CASE("a replay decides before all other rules, for as many iterations as it has, and needs no evaluation") {
  choice_rules rules = forced_by_evaluator;
  rules.replay = {2, 0};
  const auto all = with_averages({1, 2, 3});
  CHECK(chosen(rules, 0, all).winner == 2);
  CHECK_MESSAGE(chosen(rules, 1, all).winner == 0, "also against force_grow");
  CHECK_FALSE(wants_scores(rules, 1, all));
  CHECK(wants_scores(rules, 2, all));
  CHECK(chosen(rules, 2, all, scores_of({0, 2, 1})).winner == 2);
}

TEST_CASE("a replay of a candidate that there is not, or that has left, is an error that names it") {
  auto all = with_averages({1, 2});
  refused(choose({.replay = {2}}, 0, all), errc::invalid_argument,
          "replay index 2 of iteration 0: there are only 2 candidates");
  all[1].dropped = "numbers";
  refused(choose({.replay = {1}}, 0, all), errc::invalid_argument, "the candidate 'b' has left: numbers");
}

TEST_CASE("a single candidate wins whatever its average, and nothing is evaluated for it") {
  const auto one = with_averages({not_a_number});
  CHECK(chosen(by_evaluator, 0, one).winner == 0);
  CHECK(chosen(forced, 1, one).winner == 0);
  CHECK_FALSE(wants_scores(by_evaluator, 0, one));
}

TEST_CASE("under force_grow a single new candidate wins without an evaluation, and among several the best") {
  CHECK(chosen(forced, 1, with_averages({1, 2})).winner == 1);
  CHECK_FALSE(wants_scores(forced_by_evaluator, 1, with_averages({1, 2})));
  CHECK(chosen(forced, 1, with_averages({1, 3, 2})).winner == 2);
  CHECK(chosen(forced_by_evaluator, 1, with_averages({1, 1, 1}), scores_of({0, 2, 3})).winner == 1);
}

TEST_CASE("force_grow excludes nobody in iteration 0, where there is no previous ensemble") {
  CHECK(chosen(forced, 0, with_averages({1, 2})).winner == 0);
  CHECK(wants_scores(forced_by_evaluator, 0, with_averages({1, 2})));
}

TEST_CASE("an evaluator decides by its metric, to be minimized or maximized, NaN ignored") {
  const auto all = with_averages({1, 2, 3});
  CHECK(chosen(by_evaluator, 1, all, scores_of({3, 2, 2})).winner == 1);
  CHECK(chosen(by_evaluator, 1, all, scores_of({not_a_number, 4, 3})).winner == 2);
  const choice_rules accuracy{.evaluator = metric_rule{"accuracy", objective::maximize}};
  CHECK(chosen(accuracy, 1, all, scores_of({.5, .9, .9}, "accuracy")).winner == 1);
  CHECK(chosen(accuracy, 1, all, scores_of({not_a_number, -1, not_a_number}, "accuracy")).winner == 1);
}

TEST_CASE("a metric that a candidate lacks is an error that lists those that it has") {
  const choice_rules rules{.evaluator = metric_rule{"auc"}};
  refused(choose(rules, 0, with_averages({1, 2}), {{{"auc", 1.}}, {{"accuracy", 1.}, {"loss", 2.}}}), errc::key_missing,
          "the candidate 'b' has no metric 'auc'; it has accuracy, loss");
  refused(choose(rules, 0, with_averages({1, 2}), {{}, {}}), errc::key_missing, "it has none");
}

TEST_CASE("an average that was never updated counts only if all are so") {
  auto all = with_averages({2, 1, 3});
  all[1].average = {};
  CHECK_MESSAGE(chosen(by_averages, 1, all).winner == 0, "0 would be the least");
  CHECK(chosen(by_averages, 1, all).candidates[1].lost == "its moving average was never updated");
  for (auto& candidate : all)
    candidate.average = {};
  CHECK(chosen(by_averages, 1, all).winner == 0);
  all[0].average.update(5, .9f);
  CHECK_MESSAGE(chosen(forced, 1, all).winner == 1, "the previous ensemble is not among those that are compared");
}

TEST_CASE("only if all candidates are NaN is there no winner, and the error lists them") {
  CHECK(chosen(by_averages, 0, with_averages({not_a_number, 5})).winner == 1);
  refused(choose(by_averages, 0, with_averages({not_a_number, not_a_number})), errc::nan_loss,
          "no candidate can win: a: its moving average of the AdaNet loss is not a number; b: its moving average");
  refused(choose(by_evaluator, 0, with_averages({1, 2}), scores_of({not_a_number, not_a_number})), errc::nan_loss,
          "a: its adanet_loss of the evaluation is not a number");
  refused(choose(forced, 1, with_averages({1, not_a_number, not_a_number})), errc::nan_loss,
          "a: force_grow excludes the previous ensemble; b: ");
}

TEST_CASE("a candidate that has left cannot win, and its place changes no other index") {
  auto all = with_averages({3, 1, 2});
  all[1].dropped = "nan_loss at step 7";
  const auto c = chosen(by_averages, 0, all);
  CHECK(c.winner == 2);
  CHECK(c.candidates[1].lost == "it has left: nan_loss at step 7");
  CHECK_FALSE(c.candidates[1].score);
  CHECK(chosen(by_evaluator, 0, all, {{{"adanet_loss", 1.}}, {}, {{"adanet_loss", 2.}}}).winner == 0);
}

TEST_CASE("where all new candidates have left, the previous ensemble wins, also under force_grow") {
  auto all = with_averages({9, 1});
  all[1].dropped = "numbers";
  CHECK(chosen(forced_by_evaluator, 1, all).winner == 0);
  CHECK_FALSE(wants_scores(forced_by_evaluator, 1, all));
  all[0].dropped = "numbers";
  refused(choose(by_averages, 1, all), errc::nan_loss, "a: it has left: numbers; b: it has left: numbers");
}

TEST_CASE("a choice says why its winner has won and why each other candidate has not") {
  const auto c = chosen(by_averages, 1, with_averages({.5f, .25f, .25f, not_a_number}));
  CHECK(c.why == "the least moving average of the AdaNet loss, 0.25");
  CHECK(c.candidates[0].spec == "a");
  CHECK(c.candidates[0].score == .5);
  CHECK(c.candidates[0].lost == "its moving average of the AdaNet loss is 0.5, that of the winner 0.25");
  CHECK(c.candidates[1].score == .25);
  CHECK(c.candidates[1].lost.empty());
  CHECK(c.candidates[2].lost == "its moving average of the AdaNet loss is equal to that of 'b', which comes first");
  CHECK(c.candidates[3].lost == "its moving average of the AdaNet loss is not a number");

  const choice_rules accuracy{.evaluator = metric_rule{"accuracy", objective::maximize}};
  CHECK(chosen(accuracy, 0, with_averages({1, 2}), scores_of({.5, .75}, "accuracy")).why
        == "the greatest accuracy of the evaluation, 0.75");
  CHECK(chosen(forced, 1, with_averages({1, 2})).why == "the only new candidate, under force_grow");
  CHECK(chosen(forced, 1, with_averages({1, 2})).candidates[0].lost == "force_grow excludes the previous ensemble");
  CHECK(chosen(by_averages, 0, with_averages({1})).why == "the only candidate");
  const auto replayed = chosen({.replay = {1}}, 0, with_averages({1, 2}));
  CHECK(replayed.why == "replay index 1 of iteration 0");
  CHECK(replayed.candidates[0].lost == "replay index 1 of iteration 0 chooses 'b'");
}

TEST_CASE("rules that cannot be are refused with their value") {
  CHECK(validate(choice_rules{.replay = {0, 3}, .evaluator = metric_rule{}}));
  refused(validate(choice_rules{.replay = {0, -1}}), errc::invalid_argument,
          "an index of the replay must be at least 0, not -1");
  refused(validate(choice_rules{.evaluator = metric_rule{""}}), errc::invalid_argument, "the evaluator has no metric");
}

TEST_CASE("a choice has the parts of each AdaNet loss, of the averages or of the evaluation that decided") {
  auto all = with_averages({.5f, .75f, .625f});
  all[0].average.penalty = .125f;
  all[1].complexity = 3;
  all[2].average = {};
  using terms = objective_terms;
  const auto by_average = chosen(by_averages, 0, all);
  CHECK(by_average.candidates[0].terms == terms{.375, .125});
  CHECK(by_average.candidates[1].terms == terms{.75, 0});
  CHECK(by_average.candidates[1].complexity == 3);
  CHECK_FALSE(by_average.candidates[2].terms);
  const auto by_scores = chosen(by_evaluator, 0, all,
                                {{{"adanet_loss", 1.}, {"loss", .75}}, {{"adanet_loss", 2.}}, {{"adanet_loss", 3.}}});
  CHECK(by_scores.candidates[0].terms == terms{.75, .25});
  CHECK_FALSE(by_scores.candidates[1].terms);
}

TEST_CASE("rules are checked with the limits and the choice in them") {
  CHECK(validate(search_rules{}));
  refused(validate(search_rules{.limits = {.steps = 0}}), errc::invalid_argument, "steps must be at least 1");
  refused(validate(search_rules{.choice = {.replay = {-1}}}), errc::invalid_argument, "an index of the replay");
}

}  // namespace troupe::test
