#include "actors/chief/judgements.hpp"

#include <doctest/doctest.h>

#include <limits>

namespace troupe::test {

namespace {

judgement_settings with(std::vector<stop_rule> rules, std::optional<keep_best> best = {}) {
  return {std::move(rules), std::move(best), {{"", {}}, {"train", {}}}};
}

judgements::verdict judged(judgements& all, int64_t step, double loss, const std::string& evaluation = "") {
  auto found = all.judge(evaluation, {step}, {{{"loss", loss}, {"global_step", static_cast<double>(step)}}});
  REQUIRE_MESSAGE(found, found.error().message);
  return *found;
}

checkpoint_books books_of(const judgements& all, bool ends_here) {
  checkpoint_books books;
  all.enter(books, ends_here);
  return books;
}

}  // namespace

TEST_CASE("a rule looks at the results of its own evaluation only") {
  judgements all{with({stop_if_lower("loss", 0.5, {.evaluation = "train"})})};
  all.begin(0, {});
  CHECK_FALSE(judged(all, 10, 0.1).ends);
  CHECK_FALSE(judged(all, 10, 0.9, "train").ends);
  CHECK(judged(all, 20, 0.4, "train").ends);
  CHECK(all.why_ended() == "loss lower than 0.5 in evaluation 'train': loss was 0.4 at step 20");
}

TEST_CASE("evaluations of earlier runs count, but for those of states that are made again") {
  auto settings = with({stop_if_no_decrease("loss", 20)});
  settings.evaluations[0].history = {{10, {{"loss", 0.5}}}, {20, {{"loss", 0.6}}}, {30, {{"loss", 0.1}}}};
  judgements all{settings};
  all.begin(20, {});
  CHECK_MESSAGE(judged(all, 30, 0.6).ends, "best at step 10, and that of 30 is made anew");
}

TEST_CASE("an attempt that goes back forgets what was evaluated beyond, and that it ended there") {
  judgements all{with({stop_if_lower("loss", 0.5)}, keep_best{})};
  all.begin(0, {});
  judged(all, 10, 0.7);
  CHECK(judged(all, 20, 0.4).ends);
  CHECK(all.best() == checkpoint_id{20});
  all.begin(10, {.best = {{{10}, 0.7}}});
  CHECK_FALSE(all.has_ended());
  CHECK(all.best() == checkpoint_id{10});
  CHECK_FALSE(judged(all, 20, 0.8).is_best);
  CHECK(judged(all, 30, 0.6).is_best);
}

TEST_CASE("where an attempt begins the rules of all evaluations look at what is there up to its state") {
  auto settings = with({stop_if_lower("loss", 0.5, {.evaluation = "train"})});
  settings.evaluations[1].history = {{10, {{"loss", 0.4}}}, {20, {{"loss", 0.9}}}};
  judgements all{settings};
  all.begin(5, {});
  CHECK_FALSE(all.rule_at_start()->ends);
  all = judgements{settings};
  all.begin(25, {});
  CHECK(all.rule_at_start()->ends);
  CHECK(books_of(all, true).ended->rule == "loss lower than 0.5 in evaluation 'train'");
}

TEST_CASE(
    "a predicate is not asked here: the rules after it follow its answer, and none is asked before its first step") {
  bool called = false;
  const auto mine = [&called](const evaluation_history&) { return called = true; };
  judgements all{with({stop_if("late", mine, {.min_steps = 11}), stop_if("mine", mine), stop_if_lower("loss", 0.5),
                       stop_if("last", mine)})};
  all.begin(0, {});
  const auto found = judged(all, 10, 0.4);
  CHECK_FALSE(found.ends);
  REQUIRE(found.asks);
  CHECK(all.rule(found.asks->rule).name == "mine");
  CHECK(all.history(found.asks->evaluation).size() == 1);
  SUBCASE("it does not hold") {
    CHECK(all.answered(*found.asks, {})->ends == "loss lower than 0.5: loss was 0.4 at step 10");
    CHECK(books_of(all, true).ended->rule == "loss lower than 0.5");
  }
  SUBCASE("it holds") {
    CHECK(all.answered(*found.asks, "mine, at step 10")->ends == "mine, at step 10");
    CHECK(books_of(all, true).ended->rule == "mine");
  }
  CHECK_FALSE(called);
}

TEST_CASE("a state that was judged before it was saved is the best once it is, and changes no history") {
  judgements all{with({}, keep_best{})};
  all.begin(0, {});
  const evaluation_values values{{{"loss", 0.5}, {"global_step", 10}}};
  CHECK_FALSE(all.judge("", {10}, values, false)->is_best);
  CHECK(*all.consider("", {10}, values));
  CHECK(all.best() == checkpoint_id{10});
  CHECK_FALSE(*all.consider("", {10}, values));
  CHECK(all.history(0).size() == 1);
}

TEST_CASE("the best checkpoint is the first with the smallest value, or the greatest") {
  judgements small{with({}, keep_best{})},
      great{with({}, keep_best{.goal = {.smaller_is_better = false}, .restore_best = true})};
  for (auto* all : {&small, &great})
    all->begin(0, {});
  const double values[] = {0.5, 0.4, 0.4, 0.6};
  for (int64_t i = 0; i < 4; ++i)
    for (auto* all : {&small, &great})
      judged(*all, i, values[i]);
  CHECK(small.best() == checkpoint_id{1});
  CHECK(great.best() == checkpoint_id{3});
  CHECK_FALSE(small.uses_best());
  CHECK(great.uses_best());
  CHECK(great.best_results().metrics.at("loss") == 0.6);
  CHECK_FALSE(judged(small, 5, std::numeric_limits<double>::quiet_NaN()).is_best);
}

TEST_CASE(
    "the results of the best checkpoint are known after going back, and after a restart as the event file has them") {
  auto settings = with({}, keep_best{.restore_best = true});
  judgements first{settings};
  first.begin(0, {});
  judged(first, 10, 0.1);
  judged(first, 20, 0.05);
  const checkpoint_books at_10{.best = {{{10}, 0.1}}};
  first.begin(10, at_10);
  CHECK(first.best_results().metrics.at("loss") == 0.1);
  settings.evaluations[0].history = {{10, {{"loss", 0.1f}}}, {20, {{"loss", 0.05f}}}};
  judgements later{settings};
  later.begin(10, at_10);
  CHECK(later.best_results().metrics == std::map<std::string, double>{{"loss", 0.1f}, {"global_step", 10}});
  later.begin(10, {.best = {{{5}, 0.1}}});
  CHECK(later.best_results().metrics.empty());
}

TEST_CASE("of a checkpoint that was the best long ago the metrics are known as event files have them, and no arrays") {
  judgements all{with({}, keep_best{})};
  all.begin(0, {});
  for (int64_t step = 1; step <= 20; ++step)
    REQUIRE(all.judge("", {step}, {{{"loss", 1.0 / static_cast<double>(step)}}, {{"matrix", tensor::scalar(1.0f)}}}));
  all.begin(20, {.best = {{{20}, 0.05}}});
  CHECK(all.best_results().arrays.contains("matrix"));
  all.begin(3, {.best = {{{3}, 0.333}}});
  CHECK(all.best_results().arrays.empty());
  CHECK(all.best_results().metrics.at("loss") == static_cast<double>(static_cast<float>(1.0 / 3)));
}

TEST_CASE("books name the best checkpoint, and an end by a rule only where it is") {
  judgements all{with({stop_if_lower("loss", 0.5)}, keep_best{.restore_best = true})};
  all.begin(0, {});
  CHECK(books_of(all, true) == checkpoint_books{});
  judged(all, 10, 0.25);
  CHECK(books_of(all, false) == checkpoint_books{.best = {{{10}, 0.25, true}}});
  const auto books = books_of(all, true);
  CHECK(books.ended->why == "early: loss lower than 0.5: loss was 0.25 at step 10");
  CHECK(books.ended->rule == "loss lower than 0.5");
}

TEST_CASE("a job has ended before where one of its rules has ended it, and not by a rule that it has no more") {
  const checkpoint_books ended{.ended = {{"early: so", "loss lower than 0.5"}}};
  const auto ended_where = [](judgements j, const checkpoint_books& of_checkpoint) {
    j.begin(10, of_checkpoint);
    return j.ended_before();
  };
  CHECK(ended_where(judgements{with({stop_if_lower("loss", 0.5)})}, ended) == "early: so");
  CHECK_FALSE(ended_where(judgements{with({stop_if_lower("loss", 0.4)})}, ended));
  CHECK_FALSE(ended_where(judgements{with({})}, ended));
  CHECK_FALSE(ended_where(judgements{with({stop_if_lower("loss", 0.5)})}, {}));
}

TEST_CASE("a metric that is asked for and not there is an error that lists those that are") {
  judgements all{with({}, keep_best{.goal = {.metric = "auc"}})};
  all.begin(0, {});
  const auto found = all.judge("", {10}, {{{"loss", 0.5}, {"accuracy", 1}}});
  REQUIRE_FALSE(found);
  CHECK(found.error().category == errc::key_missing);
  CHECK(found.error().message == "keep_best asks for the metric 'auc'; the evaluation has accuracy, loss");
}

TEST_CASE("a best checkpoint of another process counts only if it is better, and only in a job that keeps one") {
  judgements all{with({}, keep_best{.goal = {.metric = "loss", .smaller_is_better = true}})};
  all.begin(0, {});
  judged(all, 10, 0.5);
  CHECK_FALSE(all.take_best({20}, 0.6));
  CHECK_FALSE(all.take_best({20}, std::numeric_limits<double>::quiet_NaN()));
  CHECK(all.best() == checkpoint_id{10});
  CHECK(all.take_best({30}, 0.25));
  CHECK_FALSE(all.take_best({30}, 0.25));
  CHECK(books_of(all, false).best->id == checkpoint_id{30});
  CHECK(all.best_results().metrics.empty());
  judgements keeps_none{with({})};
  CHECK_FALSE(keeps_none.take_best({30}, 0.25));
}

TEST_CASE("a rule that applied in another process ends a job that has it, and once") {
  judgements all{with({stop_if_lower("loss", 0.5)})};
  all.begin(0, {});
  CHECK_FALSE(all.take_end("loss lower than 0.4", "so"));
  CHECK(all.take_end("loss lower than 0.5", "so"));
  CHECK_FALSE(all.take_end("loss lower than 0.5", "so again"));
  CHECK(books_of(all, true).ended == checkpoint_books::end_by_rule{"early: so", "loss lower than 0.5"});
}

}  // namespace troupe::test
