#include "pipeline/plan/make_plan.hpp"
#include "plan/checked_plan.hpp"
#include "tests/plan/hand_written_plans.hpp"
#include "tests/support/has.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

group_id group_of(const job_plan& p, node_id id) {
  return std::find_if(p.nodes.begin(), p.nodes.end(), [id](const plan_node& n) { return n.id == id; })->group;
}

/// The first edge of kind `what` from the node named `from`.
plan_edge& edge_of(job_plan& p, const std::string& from, edge_kind what) {
  const auto id = named(p, from).id;
  return *std::find_if(p.edges.begin(), p.edges.end(),
                       [&](const plan_edge& e) { return e.from == id && e.kind == what; });
}

/// Removes the last edge of data, which leads from b to the mixture.
void remove_last_data(job_plan& p) {
  const auto last = std::find_if(p.edges.rbegin(), p.edges.rend(),
                                 [](const plan_edge& e) { return e.kind == edge_kind::data; });
  p.edges.erase(std::prev(last.base()));
}

}  // namespace

TEST_CASE("a plan that can be is not refused") {
  CHECK(checked_plan::of(good().plan));
  for (int32_t hosts : {1, 2})
    for (int32_t replicas : {2, 4}) {
      const auto plan = make_plan({.hosts = hosts,
                                   .replicas = replicas,
                                   .summaries = true,
                                   .eval_summaries = true,
                                   .hooks = true,
                                   .program = "m",
                                   .dataset = "d",
                                   .evaluations = {{"", "e"}, {"other", "f"}}});
      REQUIRE(plan);
      CHECK(checked_plan::of(*plan));
    }
}

TEST_CASE("whoever neither shares memory nor relies on the order of messages may be at another place") {
  auto p = two_candidates(small_dataset().batch(4).repeat(), 2).plan;
  for (const auto* name : {"checkpoint_writer", "a/reducer"})
    named(p, name).place = 1;
  CHECK(checked_plan::of(p));
  CHECK(has(to_text(p), "node a/reducer: reducer, place 1\n"));
}

TEST_CASE("a plan that cannot be is refused, and the error names the node or the edge") {
  auto p = good().plan;
  SUBCASE("a number of two nodes") {
    p.nodes[3].id = p.nodes[2].id;
    CHECK(says(p, {"node 3 is both", p.nodes[2].name, p.nodes[3].name}));
  }
  SUBCASE("a name of two nodes") {
    p.nodes[3].name = p.nodes[2].name;
    CHECK(says(p, {"two nodes have the name '" + p.nodes[2].name + "'"}));
  }
  SUBCASE("a group that falls with one that is not there") {
    p.groups[0].falls_with = {group_id{7}};
    CHECK(says(p, {"group 'mixture' falls with group 7, which the plan does not list"}));
  }
  SUBCASE("a group that falls with one from which it does not read") {
    p.groups[1].falls_with = {2_group};
    CHECK(says(p, {"group 'a' falls with group 'b' and does not read from it"}));
  }
  SUBCASE("a group that is not shown") {
    p.shown = {0_group, 2_group};
    CHECK(says(p, {"it does not say where group 'a' is shown"}));
  }
  SUBCASE("a group that is shown twice") {
    p.shown = {0_group, 1_group, 2_group, 1_group};
    CHECK(says(p, {"it shows group 'a' twice"}));
  }
  SUBCASE("a group that is shown and not there") {
    p.shown.push_back(group_id{7});
    CHECK(says(p, {"it shows group 7, which it does not list"}));
  }
  SUBCASE("a group among several without a name") {
    p.groups[1].name = "";
    CHECK(says(p, {"group 1 is one of several and has no name"}));
  }
  SUBCASE("two groups of one name") {
    p.groups[1].name = "b";
    CHECK(says(p, {"two groups have the name 'b'"}));
  }
  SUBCASE("a group that ends the job before a step that is not finite, with others beside it") {
    p.groups[1].on_not_finite = not_finite::stop;
    CHECK(says(p, {"group 'a' is to end the job", "on_not_finite = stop", "group 'mixture' goes on beside it"}));
  }
  SUBCASE("a group that retires before the first step") {
    p.groups[1].retires_at = -1;
    CHECK(says(p, {"group 'a' retires at step -1"}));
  }
  SUBCASE("a group that begins before the first step") {
    p.groups[1].begins_at = -1;
    CHECK(says(p, {"group 'a' begins at step -1: steps count from 0"}));
  }
  SUBCASE("a group that retires before it begins") {
    p.iteration = {.number = 1, .begins_at = 40};
    p.groups[1].begins_at = 40;
    p.groups[1].retires_at = 40;
    CHECK_MESSAGE(checked_plan::of(p), "in the state at which it begins it may");
    p.groups[1].retires_at = 39;
    CHECK(says(p, {"group 'a' begins at step 40 and retires before that, at step 39"}));
  }
  SUBCASE("data of one group's own of a node that is no infeed") {
    named(p, "a/replica/0").own = own_data_of{1_group, "the builder 'a'"};
    CHECK(says(p, {"'a/replica/0' has data of one group: only an infeed"}));
  }
  SUBCASE("data of one group's own that others read") {
    named(p, "feed").own = own_data_of{1_group, "the builder 'a'"};
    CHECK(says(p, {"'feed' has data of one group: only an infeed to which no stop is sent"}));
    named(p, "feed").stops_at_infeeds = false;
    CHECK(says(p, {"the data are of one group, and not the input of others"}));
  }
  SUBCASE("a group that is trained before it begins") {
    p.iteration = {.number = 1, .begins_at = 40};
    p.groups[1].begins_at = 41;
    CHECK(says(p, {"group 'a' begins at step 41, and the plan trains it from state 40 on"}));
  }
  SUBCASE("a number of two edges") {
    p.edges[1].id = p.edges[0].id;
    CHECK(says(p, {"two edges with the number 0"}));
  }
  SUBCASE("an edge to nobody") {
    p.edges[0].to = 99_node;
    CHECK(says(p, {"edge 0 (feed.data => node 99.data)", "not there"}));
  }
  SUBCASE("an edge from a port that is not there") {
    p.edges[3].out = "probabilities";
    CHECK(says(p, {"'a/replica/0' has no out-port 'probabilities'"}));
  }
  SUBCASE("an in-port of two sources") {
    p.edges[4].in = "a";
    CHECK(says(p, {"in-port 'a' of 'mixture/replica/0' is filled by two edges"}));
  }
  SUBCASE("an in-port without a source") {
    remove_last_data(p);
    named(p, "b/replica/0").out_ports.clear();
    CHECK(says(p, {"in-port 'b' of 'mixture/replica/0' has no edge that fills it"}));
  }
  SUBCASE("an out-port without a reader") {
    remove_last_data(p);
    named(p, "mixture/replica/0").in_ports.pop_back();
    CHECK(says(p, {"out-port 'logits' of 'b/replica/0' has no reader"}));
  }
  SUBCASE("no credit") {
    p.edges[3].credit.messages = 0;
    CHECK(says(p, {"edge 3 (a/replica/0.logits => mixture/replica/0.a)", "credit of 0 blocks", "at least 1"}));
  }
  SUBCASE("a cycle") {
    named(p, "mixture/replica/0").out_ports = {"logits"};
    named(p, "a/replica/0").in_ports.push_back("feedback");
    p.edges.push_back({.id = 99_edge,
                       .from = named(p, "mixture/replica/0").id,
                       .out = "logits",
                       .to = named(p, "a/replica/0").id,
                       .in = "feedback",
                       .how = divide::broadcast});
    CHECK(says(p, {"cycle", "'a/replica/0'", "'mixture/replica/0'", "first step"}));
  }
  SUBCASE("what a replica computed, divided") {
    p.edges[3].how = divide::split;
    CHECK(says(p, {"edge 3", "divides by split", "broadcast"}));
  }
  SUBCASE("a part of somebody who makes none") {
    edge_of(p, "feed", edge_kind::part).from = named(p, "outfeed").id;
    CHECK(says(p, {"(outfeed => checkpoint_writer) of part goes from an outfeed to a checkpoint_writer",
                   "one of infeed, replica"}));
  }
  SUBCASE("a part that is missing") {
    std::erase_if(p.edges,
                  [&](const plan_edge& e) { return e.kind == edge_kind::part && e.from == named(p, "feed").id; });
    CHECK(says(p, {"a snapshot has no part of 'feed', which makes one"}));
  }
  SUBCASE("a part twice") {
    auto second = edge_of(p, "feed", edge_kind::part);
    second.id = 99_edge;
    p.edges.push_back(second);
    CHECK(says(p, {"2 parts of 'feed'"}));
  }
  SUBCASE("a credit to which nobody holds the sender") {
    edge_of(p, "feed", edge_kind::part).credit.messages = 3;
    CHECK(says(p, {"(feed => checkpoint_writer) of part has a credit of its own", "that of its kind is 9 messages"}));
  }
  SUBCASE("gradients for the sum of another group") {
    p = two_candidates(small_dataset().batch(4).repeat(), 2).plan;
    edge_of(p, "a/replica/0", edge_kind::gradient).to = named(p, "b/reducer").id;
    CHECK(says(p, {"(a/replica/0 => b/reducer) of gradient joins nodes of two groups"}));
  }
  SUBCASE("reports to the outfeed of another driver") {
    p.nodes.push_back({.id = 98_node, .what = role::evaluator, .name = "evaluator", .driver = 0_node});
    p.nodes.push_back({.id = 97_node, .what = role::outfeed, .name = "evaluator/outfeed", .driver = 98_node});
    edge_of(p, "a/replica/0", edge_kind::report).to = 97_node;
    CHECK(says(p, {"(a/replica/0 => evaluator/outfeed) joins nodes of two drivers"}));
  }
  SUBCASE("an outfeed at another place than its chief") {
    named(p, "outfeed").place = 1;
    CHECK(says(p, {"'outfeed' is at place 1 and 'chief' at 0", "rely on the order"}));
  }
  SUBCASE("a summary writer at another place than its chief") {
    p = *make_plan({.summaries = true, .program = "m", .dataset = "d"});
    named(p, "summary_writer").place = 1;
    CHECK(says(p, {"'summary_writer' is at place 1 and 'chief' at 0"}));
  }
  SUBCASE("a node of an evaluator at another place than the evaluator") {
    p = *make_plan({.program = "m", .dataset = "d", .evaluations = {{"", "e"}}});
    for (const auto* name : {"evaluator/infeed/0", "evaluator/replica/0", "evaluator/outfeed"})
      named(p, name).place = 1;
    CHECK(says(p, {"'evaluator/infeed/0' is at place 1 and 'evaluator' at 0", "share memory"}));
  }
  SUBCASE("data from place to place") {
    named(p, "feed").place = 1;
    CHECK(says(p, {"edge 0 (feed.data => ", "from place 1 to 0", "lent memory"}));
  }
  SUBCASE("an infeed that does not end the steps of a stop, whose chief tells infeeds of it") {
    named(p, "feed").stops_at_infeeds = false;
    CHECK(says(p, {"'feed' does not end the steps of a stop, and 'chief' tells infeeds of it"}));
  }
  SUBCASE("a replica without a program") {
    named(p, "a/replica/0").program = 7;
    CHECK(says(p, {"'a/replica/0' has no program", "3 in the plan"}));
  }
  SUBCASE("a replica of another group than its program") {
    named(p, "a/replica/0").group = 0_group;
    CHECK(says(p, {"'a/replica/0' is of another group than its program"}));
  }
  SUBCASE("an infeed without a dataset") {
    named(p, "feed").dataset.reset();
    CHECK(says(p, {"'feed' has no dataset"}));
  }
  SUBCASE("driven by somebody who drives nobody") {
    named(p, "a/replica/0").driver = named(p, "feed").id;
    CHECK(says(p, {"'a/replica/0' is driven by 'feed'", "a replica is driven by one of: evaluator, predictor, chief"}));
  }
  SUBCASE("driven by the launcher") {
    named(p, "outfeed").driver = no_node;
    CHECK(says(p, {"'outfeed' is driven by the launcher"}));
  }
  SUBCASE("a reducer of an evaluator") {
    p.nodes.push_back({.id = 98_node, .what = role::evaluator, .name = "evaluator", .driver = 0_node});
    p.nodes.push_back({.id = 97_node, .what = role::reducer, .name = "sums", .driver = 98_node});
    CHECK(says(p, {"'sums' is driven by 'evaluator': a reducer is driven by one of: chief"}));
  }
  SUBCASE("an index beyond the replicas of a program") {
    named(p, "a/replica/0").index = 1;
    CHECK(says(p, {"'a/replica/0' has the index 1 among 1", "count from 0"}));
  }
  SUBCASE("an index of two infeeds") {
    auto second = named(p, "feed");
    second.id = 77_node;
    second.name = "feed/1";
    second.out_ports.clear();
    p.nodes.push_back(second);
    CHECK(says(p, {"'feed' and 'feed/1' both have the index 0"}));
  }
  SUBCASE("a replica that nothing feeds") {
    auto& a = named(p, "a/replica/0");
    a.in_ports.clear();
    std::erase_if(p.edges, [&](const plan_edge& e) { return e.to == a.id; });
    CHECK(says(p, {"'a/replica/0' has no in-port"}));
  }
  SUBCASE("nobody to report to") {
    std::erase_if(p.edges, [](const plan_edge& e) { return e.kind == edge_kind::report; });
    CHECK(says(p, {"has no outfeed to report to"}));
  }
  SUBCASE("some of several replicas without a reducer") {
    p = two_candidates(small_dataset().batch(4).repeat(), 2).plan;
    const auto from = named(p, "b/replica/1").id, to = named(p, "b/reducer").id;
    std::erase_if(p.edges, [&](const plan_edge& e) { return e.from == from && e.to == to; });
    CHECK(says(p, {"'b/replica/1' is one of several of its group: they need one edge of gradient each"}));
  }
  SUBCASE("several replicas at two places without a reducer") {
    p = two_candidates(small_dataset().batch(4).repeat(), 2).plan;
    std::erase_if(p.edges, [&](const plan_edge& e) { return e.to == named(p, "b/reducer").id; });
    CHECK(checked_plan::of(p));
    named(p, "b/replica/1").place = 1;
    CHECK(says(p, {"'b/replica/1' is one of several of its group", "or none and the same place"}));
  }
  SUBCASE("a program that nobody runs") {
    p.programs.push_back({"idle", mode::train, 0_group});
    CHECK(says(p, {"no replica runs program 3 ('idle')"}));
  }
  SUBCASE("batches of their own for some") {
    p.edges[0].how = divide::each;
    CHECK(says(p, {"'feed' gives each of 1 readers a batch of its own"}));
  }
}

TEST_CASE("a plan that does not fit the data or the models is refused before anything starts, too") {
  const auto refused = [](const hand_written& w) {
    // As many replicas as the largest group has.
    const auto job = prepare(describe_small({.replicas = 2}), {w.plan, w.resources});
    REQUIRE_FALSE(job);
    CHECK(job.error().category == errc::invalid_argument);
    return job.error().message;
  };
  auto w = good();
  SUBCASE("two groups with one variable name") {
    w.resources.models[2] = w.resources.models[1];
    CHECK(refused(w)
          == "variable 'a/dense/kernel' is of two groups, 'a' and 'b': build each model in a scope of its own");
  }
  SUBCASE("rows that cannot be divided") {
    CHECK(refused(two_candidates(small_dataset().batch(5).repeat(), 2))
          == "a batch of 5 rows cannot be split evenly among 2 replicas");
  }
  SUBCASE("ports of different rows") {
    auto split = two_candidates(small_dataset().batch(4).repeat(), 2);
    for (auto& e : split.plan.edges)
      if (e.kind == edge_kind::data && e.from == split.plan.nodes.front().id && group_of(split.plan, e.to) == 0_group)
        e.how = divide::broadcast;
    CHECK(refused(split) == "'mixture/replica/0' is fed 4 rows a step, and 'a/replica/0.logits' has 2 for it");
  }
  SUBCASE("an output that the model does not make") {
    auto silent = *w.resources.models[1];
    w.resources.models[1] = std::make_shared<const model>(
        model{"a", [silent](graph& g, const features& x, const labels& y, mode m) {
                auto spec = silent.build(g, x, y, m);
                spec.predictions.clear();
                return spec;
              }});
    CHECK(has(refused(w), "no prediction 'logits' while it trains"));
  }
  SUBCASE("fewer models than programs") {
    w.resources.models.pop_back();
    CHECK(refused(w) == "the plan lists 3 programs and 1 datasets; 2 models and 1 datasets came with it");
  }
}

TEST_CASE("the only group of a job cannot leave") {
  auto p = *make_plan({.program = "m", .dataset = "d"});
  p.groups[0].leaves = leaves_on::numbers;
  const auto refused_plan = checked_plan::of(p);
  REQUIRE_FALSE(refused_plan);
  CHECK(has(refused_plan.error().message, "no job would be left"));
}

TEST_CASE("what the replicas of a chief report is in the order in which groups are shown") {
  auto p = good().plan;
  CHECK(checked_plan::of(p)->reported_by(0_node) == std::vector<size_t>{0, 1, 2});
  p.shown = {2_group, 0_group, 1_group};
  CHECK(checked_plan::of(p)->reported_by(0_node) == std::vector<size_t>{2, 0, 1});
}

TEST_CASE("a plan says what its nodes do and what flows between them") {
  auto p = good().plan;
  p.groups[1].retires_at = 30;
  p.groups[2].leaves = leaves_on::numbers_and_death;
  p.groups[0].falls_with = {1_group, 2_group};
  const auto text = to_text(p);
  CHECK(has(text, "node a/replica/0: replica of a\n"));
  CHECK(has(text, "edge 3: a/replica/0.logits => mixture/replica/0.a, broadcast, 3 blocks\n"));
  CHECK(has(text, "node feed: infeed of "));
  CHECK(has(text, ", stops at infeeds\n"));
  CHECK(has(text, ": a/replica/0 => outfeed, report\n"));
  CHECK(has(text, ": feed => checkpoint_writer, part, 9 messages\n"));
  CHECK(has(text,
            "shown: mixture, a, b\ngroup mixture: falls with a, b\ngroup a: retires at step 30\ngroup b: leaves if it "
            "fails\n"));
  p.groups[2].leaves = leaves_on::numbers;
  CHECK(has(to_text(p), "group b: leaves if its numbers are not finite\n"));
  CHECK_FALSE(has(text, "begins at step"));
  p.groups[1].begins_at = 20;
  CHECK(has(to_text(p), "group a: begins at step 20\ngroup a: retires at step 30\n"));
  CHECK(text.ends_with("snapshot: feed a/replica/0 b/replica/0 mixture/replica/0 chief\n"));
}

}  // namespace troupe::test
