#include "ensemble/search_books.hpp"

#include "ensemble/names.hpp"
#include "tests/support/refused.hpp"

#include <cmath>
#include <limits>

namespace troupe::test {

namespace {

/// Books in the middle of iteration 1.
search_books second_iteration() {
  const architecture first{"a_grow", "mean", {{0, "a"}}, {0}, 0, 100};
  search_books books{.begins_at = 100, .tick = 150, .global_step = 140};
  books.subnetworks = {{"a", 30, spec_stop{stop_cause::end_of_input, 30, "bag \"x\""}}, {"b", 50}};
  books.candidates = {{{"t0_a_grow_mean", first, 1.5}, {.5f, .25f, 9}},
                      {{"t1_a_grow_mean", {"a_grow", "mean", {{0, "a"}, {1, "a"}}, {}, 1, 0}}, {.1f, -.2f, 3}},
                      {{"t1_b_grow_mean", {"b_grow", "mean", {{0, "a"}, {1, "b"}}, {}, 1, 0}},
                       {},
                       spec_stop{stop_cause::dropped, 20, "it reads t1_b"}}};
  books.winners = {
      {"t0_a_grow_mean",
       0,
       first,
       {.5f, .25f, 9, .125f},
       "the least loss, 0.5",
       {{"t0_a_grow_mean", .5, "", objective_terms{.375, .125}, 1.5}, {"t0_b_grow_mean", {}, "it was dropped"}}}};
  books.reports = {{{.iteration = 0, .name = "a", .hparams = {{"rate", .1}}, .included = true}}};
  return books;
}

std::string changed_books(const std::string& part, const std::string& other) {
  auto text = books_text(second_iteration());
  const auto at = text.find(part);
  REQUIRE(at != std::string::npos);
  return text.replace(at, part.size(), other);
}

void damaged_books(const std::string& text, const std::string& names) {
  refused(parse_books(text, "model.ckpt-150"), errc::data_loss, "model.ckpt-150: " + names);
}

}  // namespace

TEST_CASE("books read back as they were written, empty ones too") {
  for (const auto& books : {search_books{}, second_iteration()}) {
    const auto read = parse_books(books_text(books), "books");
    REQUIRE_MESSAGE(read, read.error().message);
    CHECK(*read == books);
  }
}

TEST_CASE("averages keep their bits, and may be NaN or infinite") {
  auto books = second_iteration();
  const float infinity = std::numeric_limits<float>::infinity();
  books.candidates[1].average = {std::nextafterf(.1f, 1), -infinity, int64_t{1} << 40};
  const auto read = parse_books(books_text(books), "books");
  REQUIRE(read);
  CHECK(*read == books);
  books.candidates[1].average.value = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(parse_books(books_text(books), "books")->candidates[1].average.value));
}

TEST_CASE("books whose numbers could overflow, or whose names could leave their folders, are damaged") {
  damaged_books(changed_books("\"tick\": 150", "\"tick\": 9223372036854775807"),
                "tick must be a whole number of at most 2^53");
  damaged_books(changed_books("\"count\": 9,", "\"count\": 9007199254740993,"),
                "candidates[0].average.count must be a whole number of at most 2^53");
  damaged_books(changed_books("\"builder\": \"b\", \"step\"", "\"builder\": \"../../b\", \"step\""),
                "subnetworks[1].builder must be a name of letters, digits and _.-/ without '..'");
  damaged_books(changed_books("\"spec\": \"t1_b_grow_mean\"", "\"spec\": \"/etc/x\""),
                "candidates[2].spec must be a name");
  damaged_books(changed_books("\"made_in\": 0", "\"made_in\": 1"),
                "winners[0].made_in must be at most its iteration, 0");
}

TEST_CASE("the text of books is what is documented") {
  CHECK(books_text({})
        == R"({"begins_at": 0, "candidates": [], "format": "troupe search", "format_version": 1, "global_step": 0, )"
           R"("iteration": 0, "reports": [], "subnetworks": [], "tick": 0, "winners": []})");
  const auto text = books_text(second_iteration());
  CHECK(has(text,
            R"({"builder": "a", "step": 30, "stop": {"cause": "end_of_input", "detail": "bag \"x\"", "step": 30}})"));
  CHECK(has(
      text,
      R"({"average": {"biased": 0.25, "count": 9, "penalty": 0.125, "value": 0.5}, "candidates": [{"complexity": 1.5, )"
      R"("loss": 0.375, "lost": "", "penalty": 0.125, "score": 0.5, "spec": "t0_a_grow_mean"}, {"lost": )"
      R"("it was dropped", "spec": "t0_b_grow_mean"}], "made_in": 0, "recipe": {)"));
  CHECK(has(text, R"("spec": "t0_a_grow_mean", "why": "the least loss, 0.5"})"));
}

TEST_CASE("books that were damaged, or that contradict themselves, are refused with place and value") {
  damaged_books("", "it is no JSON");
  damaged_books("{}", "it is no troupe search");
  damaged_books(R"({"format": "troupe checkpoint"})", "it is no troupe search");
  damaged_books(changed_books(R"("tick": 150, )", ""), "it lacks the key 'tick'");
  damaged_books(changed_books(R"("tick": 150)", R"("tick": 99)"), "tick must be at least begins_at, 100, not 99");
  damaged_books(changed_books(R"("iteration": 1)", R"("iteration": 2)"),
                "iteration must be the number of winners, 1, not 2");
  damaged_books(changed_books(R"("step": 50)", R"("step": 49)"),
                "subnetworks[1].step must be the ticks of the iteration");
  damaged_books(changed_books("end_of_input", "boredom"),
                "subnetworks[0].stop.cause must be the cause of a stop, not \"boredom\"");
  auto without_index = second_iteration();
  without_index.winners[0].recipe.replay_indices.clear();
  damaged_books(books_text(without_index),
                "winners[0].recipe must be of iteration 0, with an index for each iteration up to it");
  damaged_books(changed_books(R"("loss": 0.375, )", ""),
                "winners[0].candidates[0] must be an object with both loss and penalty, or none of them");
  damaged_books(changed_books("0.25", "1e300"), "candidates[0].average.biased must be a number of 32 bits");
}

TEST_CASE("books of a later version are told from damaged ones") {
  refused(parse_books(changed_books(R"("format_version": 1)", R"("format_version": 2)"), "books"), errc::unimplemented,
          "books: format version 2, and this program reads 1");
}

TEST_CASE("a winner that was the previous ensemble keeps its spec, its average and the iteration that made it") {
  const auto next = grown(second_iteration(), choice{.winner = 0}, {});
  const auto& winner = next.winners.back();
  CHECK(winner.spec == "t0_a_grow_mean");
  CHECK(winner.made_in == 0);
  CHECK(winner.average == loss_average{.5f, .25f, 9});
  CHECK(winner.recipe == architecture{"a_grow", "mean", {{0, "a"}}, {0, 0}, 1, 140});
  CHECK(next.winners.front() == second_iteration().winners.front());
  CHECK(next.iteration() == 2);
  CHECK(next.begins_at == 150);
  CHECK(next.tick == 150);
  CHECK(next.base_step() == 140);
  CHECK(next.subnetworks.empty());
}

TEST_CASE("a new winner lists its members, the indices that led to it and the global step at which it won") {
  const auto winner = grown(second_iteration(), choice{.winner = 1}, {}).winners.back();
  CHECK(winner.made_in == 1);
  CHECK(winner.recipe == architecture{"a_grow", "mean", {{0, "a"}, {1, "a"}}, {0, 1}, 1, 140});
}

TEST_CASE("the books with which an iteration began follow from its later ones") {
  const auto begun = grown(second_iteration(), choice{.winner = 1}, {});
  auto later = begun;
  REQUIRE(enter_specs(later, *specs_of(2, {{"c"}}, later.previous(), {strategy::grow()}, {"mean"})));
  later.tick = 170;
  later.global_step = 160;
  later.subnetworks[0].step = 20;
  later.subnetworks[0].stop = spec_stop{stop_cause::complete, 20};
  later.candidates[1].average = {.5f, .5f, 20};
  CHECK(as_begun(later) == begun);
  CHECK(as_begun(begun) == begun);
}

TEST_CASE("growth keeps the reports of the iteration and says which are included") {
  const auto next = grown(second_iteration(), choice{.winner = 1},
                          {{.name = "previous_ensemble"}, {.name = "a"}, {.name = "b"}});
  REQUIRE(next.reports.size() == 2);
  CHECK_FALSE(next.reports[1][0].included);
  CHECK(next.reports[1][1].included);
  CHECK(next.reports[1][1].iteration == 1);
  CHECK_FALSE(next.reports[1][2].included);
  CHECK(next.reports[0] == second_iteration().reports[0]);
}

TEST_CASE("the previous ensemble begins an iteration with the average with which it won, new candidates with none") {
  auto books = grown(second_iteration(), choice{.winner = 1}, {});
  const auto specs = specs_of(2, {{"c"}}, books.previous(), {strategy::grow()}, {"mean"});
  REQUIRE(specs);
  REQUIRE(enter_specs(books, *specs));
  REQUIRE(books.candidates.size() == 2);
  CHECK(books.candidates[0].average == loss_average{.1f, -.2f, 3});
  CHECK(books.candidates[1].average == loss_average{});
}

TEST_CASE("what has left is told to the choice with its cause; what has only stopped can win") {
  auto books = second_iteration();
  books.candidates[1].stop = spec_stop{stop_cause::complete, 50};
  const auto all = contenders_of(books);
  CHECK_FALSE(all[0].dropped);
  CHECK_FALSE(all[1].dropped);
  CHECK(all[2].dropped == "dropped after 20 steps: it reads t1_b");
}

TEST_CASE("checkpoints of a search have its steps and its iteration as tensors") {
  CHECK(numbers_of(second_iteration())
        == std::map<std::string, int64_t>{{"global_step", 140},
                                          {"adanet/current_iteration", 1},
                                          {"adanet/iteration_1/subnetwork_t1_a/step", 30},
                                          {"adanet/iteration_1/subnetwork_t1_b/step", 50},
                                          {"adanet/iteration_1/ensemble_t1_a_grow_mean/step", 50},
                                          {"adanet/iteration_1/ensemble_t1_b_grow_mean/step", 20}});
  CHECK(numbers_of({}).size() == 2);
}

TEST_CASE("what groups tell of their averages decides who leads, among those that have not left") {
  auto books = second_iteration();
  books.candidates[2].stop.reset();
  std::map<std::string, double> told;
  const auto tell = [&](const std::string& spec, double value) {
    const auto keys = loss_average_keys_of(1, spec);
    told.insert({{keys.value, value}, {keys.biased, value / 2}, {keys.count, 7}});
  };
  CHECK(leader_by_average({}, books, {}, {}) == "t1_a_grow_mean");
  CHECK(leader_by_average({}, books, {}, {"t1_a_grow_mean"}) == "t0_a_grow_mean");
  tell("t1_b_grow_mean", 0.05);
  CHECK(told_averages(books, told) == std::map<std::string, loss_average>{{"t1_b_grow_mean", {0.05f, 0.025f, 7}}});
  CHECK(leader_by_average({}, books, told, {}) == "t1_b_grow_mean");
  CHECK(leader_by_average({.evaluator = metric_rule{}}, books, told, {"t1_b_grow_mean"}) == "t1_a_grow_mean");
  CHECK_FALSE(leader_by_average({}, books, told, {"t0_a_grow_mean", "t1_a_grow_mean", "t1_b_grow_mean"}));
}

TEST_CASE(
    "files follow from books: an architecture for each winner, the reports, a mark for each spec that has stopped") {
  const auto books = second_iteration();
  std::map<std::string, std::string> files;
  for (const auto& file : derived_files(books))
    files[file.path] = file.text;
  CHECK(files.size() == 4);
  CHECK(files["architecture-0.json"] == architecture_text(books.winners[0].recipe));
  CHECK(files["report/iteration_reports.json"] == reports_text(books.reports));
  CHECK(files["train_manager/t1/t1_a.json"] == R"({"message": "the end of its input after 30 steps: bag \"x\""})");
  CHECK(files["train_manager/t1/t1_b_grow_mean.json"] == R"({"message": "dropped after 20 steps: it reads t1_b"})");
  CHECK(derived_files({}).empty());
}

}  // namespace troupe::test
