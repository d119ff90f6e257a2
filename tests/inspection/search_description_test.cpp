#include "inspection/describe_search.hpp"
#include "tests/support/has.hpp"

#include <troupe/inspect.hpp>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

namespace troupe::test {

namespace {

/// Iteration 0 was won by "a"; iteration 1 trains "b".
search_books two_iterations() {
  search_books books{.begins_at = 100, .tick = 150, .global_step = 150};
  books.winners = {{.spec = "t0_a_grow_mean",
                    .recipe = {"a_grow", "mean", {{0, "a"}}, {0}, 0, 100},
                    .average = {.5f, .25f, 9},
                    .why = "the least loss, 0.5",
                    .candidates = {{"t0_a_grow_mean", .5, "", objective_terms{.375, .125}, 2},
                                   {"t0_c_grow_mean", .75, "its loss is 0.75"}}}};
  books.subnetworks = {{.builder = "b", .step = 50, .stop = spec_stop{stop_cause::complete, 50}}};
  books.candidates = {
      {.what = {"t0_a_grow_mean", {"a_grow", "mean", {{0, "a"}}, {}, 1, 0}, 2}, .average = {.5f, .25f, 9, .125f}},
      {.what = {"t1_b_grow_mean", {"b_grow", "mean", {{0, "a"}, {1, "b"}}, {}, 1, 0}}}};
  return books;
}

}  // namespace

TEST_CASE("a search is told with its winners, the scores of all candidates, why they lost, and what trains") {
  auto described = describe_search(two_iterations());
  described.candidates[0].weights = {.75};
  CHECK(to_text(described)
        == "search: iteration 1 is open at global step 150\n"
           "  iteration 0, up to global step 100: t0_a_grow_mean won (t0_a): the least loss, 0.5\n"
           "    candidate       score   loss  penalty  complexity\n"
           "    t0_a_grow_mean    0.5  0.375    0.125           2\n"
           "    t0_c_grow_mean   0.75                              its loss is 0.75\n"
           "  iteration 1\n"
           "    subnetwork  steps\n"
           "    t1_b           50  completed 50 steps\n"
           "    candidate       score   loss  penalty  complexity  members (weights)\n"
           "    t0_a_grow_mean    0.5  0.375    0.125           2  t0_a (0.75)\n"
           "    t1_b_grow_mean                                     t0_a + t1_b\n");
  CHECK(to_text(describe_search({})) == "search: iteration 0 is open at global step 0\n");
}

TEST_CASE("the JSON of a search has what the text has, and null where nothing was compared") {
  const auto j = nlohmann::json::parse(to_json(describe_search(two_iterations())));
  CHECK(j["iteration"] == 1);
  CHECK(j["finished"][0]["winner"] == "t0_a_grow_mean");
  CHECK(j["finished"][0]["members"][0]["builder"] == "a");
  CHECK(j["finished"][0]["candidates"][1]["score"] == 0.75);
  CHECK(j["finished"][0]["candidates"][1]["lost"] == "its loss is 0.75");
  CHECK(j["finished"][0]["candidates"][0]["penalty"] == 0.125);
  CHECK(j["finished"][0]["candidates"][1]["loss"].is_null());
  CHECK(j["candidates"][0]["complexity"] == 2);
  CHECK(j["subnetworks"][0]["stop"] == "completed 50 steps");
  CHECK(j["candidates"][1]["score"].is_null());
  CHECK(j["candidates"][1]["members"].size() == 2);
}

TEST_CASE("the picture of a search has an edge from each member to each ensemble that has it") {
  const auto dot = to_dot(describe_search(two_iterations()));
  CHECK(has(dot, R"("t0_a" -> "iteration 0";)"));
  CHECK(has(dot, R"("t0_a" -> "open t1_b_grow_mean";)"));
  CHECK(has(dot, R"("t1_b" -> "open t1_b_grow_mean";)"));
  CHECK_FALSE(has(dot, R"("t1_b" -> "open t0_a_grow_mean")"));
  CHECK(has(dot, R"("iteration 0" -> "open t1_b_grow_mean" [style=dashed];)"));
}

}  // namespace troupe::test
