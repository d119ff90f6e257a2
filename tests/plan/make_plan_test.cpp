// The edges of the plans that jobs make for themselves, and plans with many nodes.
#include "pipeline/plan/make_plan.hpp"

#include "plan/checked_plan.hpp"
#include "support/plans.hpp"
#include "tests/support/has.hpp"
#include "words/expect.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

checked_plan planned(const plan_options& o) {
  auto made = make_plan(o);
  REQUIRE(made);
  auto checked = checked_plan::of(std::move(*made));
  REQUIRE_MESSAGE(checked, (checked ? "" : to_text(checked.error())));
  return std::move(*checked);
}

/// The edges of kind `what`, as "infeed/0 => checkpoint_writer".
std::vector<std::string> edges(const checked_plan& p, edge_kind what) {
  std::vector<std::string> all;
  for (const auto& e : p->edges)
    if (e.kind == what)
      all.push_back(p.at(e.from).name + " => " + p.at(e.to).name);
  return all;
}

using names = std::vector<std::string>;

}  // namespace

TEST_CASE("a job of one replica has edges of data, report and part, and the chief's part goes straight to the writer") {
  const auto p = planned({.program = "m", .dataset = "d"});
  CHECK(edges(p, edge_kind::data) == names{"infeed/0 => replica/0"});
  CHECK(edges(p, edge_kind::report) == names{"replica/0 => outfeed"});
  CHECK(edges(p, edge_kind::gradient).empty());
  CHECK(edges(p, edge_kind::record).empty());
  CHECK(edges(p, edge_kind::part)
        == names{"infeed/0 => checkpoint_writer", "replica/0 => checkpoint_writer", "chief => checkpoint_writer"});
  CHECK(p.saves());
}

TEST_CASE("replicas meet in a collective, without a reducer, unless one is asked for") {
  const auto p = planned({.replicas = 3, .program = "m", .dataset = "d"});
  CHECK(edges(p, edge_kind::gradient).empty());
  CHECK(p.all(role::reducer, p.find(role::chief, no_node)->id).empty());
  CHECK(p.replicas_of(0).size() == 3);
}

TEST_CASE("where there is a summary writer, the chief's part goes by way of it, and records of the outfeed go there") {
  const auto p = planned({.replicas = 2,
                          .reducers = true,
                          .summaries = true,
                          .eval_summaries = true,
                          .program = "m",
                          .dataset = "d",
                          .evaluations = {{"", "e"}}});
  CHECK(edges(p, edge_kind::gradient) == names{"replica/0 => reducer", "replica/1 => reducer"});
  CHECK(edges(p, edge_kind::record) == names{"outfeed => summary_writer"});
  CHECK(edges(p, edge_kind::report)
        == names{"replica/0 => outfeed", "replica/1 => outfeed", "evaluator/replica/0 => evaluator/outfeed"});
  CHECK(edges(p, edge_kind::part)
        == names{"infeed/0 => checkpoint_writer", "replica/0 => checkpoint_writer", "replica/1 => checkpoint_writer",
                 "summary_writer => checkpoint_writer", "chief => summary_writer"});
  names parts;
  for (const auto* n : p.parts())
    parts.push_back(n->name);
  CHECK(parts == names{"infeed/0", "replica/0", "replica/1", "chief"});
}

TEST_CASE("a job that saves nothing has no edges of parts") {
  const auto p = planned({.checkpoints = false, .program = "m", .dataset = "d"});
  CHECK(edges(p, edge_kind::part).empty());
  CHECK_FALSE(p.saves());
  CHECK(has(to_text(p.data()), "\nsnapshot:\n"));
}

TEST_CASE("nodes and edges are found by number, role, driver and kind, and a number that is not there is named") {
  const auto p = planned({.hosts = 2, .replicas = 4, .program = "m", .dataset = "d", .evaluations = {{"", "e"}}});
  const auto* chief = p.find(role::chief, no_node);
  REQUIRE(chief);
  CHECK(p.all(role::replica, chief->id).size() == 4);
  CHECK(p.all(role::reducer, p.find(role::evaluator, chief->id)->id).empty());
  const auto* first = p.find(role::infeed, chief->id);
  REQUIRE(first);
  CHECK(p.edges_from(first->id).size() == 2);
  CHECK(p.edges_from(first->id, edge_kind::part).size() == 1);
  CHECK(p.edges_to(first->id).empty());
  CHECK(p.find(77_node) == nullptr);
  CHECK_THROWS_WITH_AS(p.at(77_node), "the plan has no node 77", broken_invariant);
  CHECK_THROWS_WITH_AS(p.group(9_group), "the plan has no group 9", broken_invariant);
  CHECK(p.replicas_of(99).empty());
}

TEST_CASE("a plan of a hundred thousand nodes is built, checked and indexed") {
  const auto p = planned({.hosts = 1'000, .replicas = 100'000, .program = "m", .dataset = "d"});
  CHECK(p->nodes.size() == 101'003);
  CHECK(p->edges.size() == 100'000 * 3 + 1'000 + 1);
  CHECK(p.parts().size() == 101'001);
}

}  // namespace troupe::test
