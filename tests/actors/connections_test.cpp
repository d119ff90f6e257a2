#include "actors/connections.hpp"

#include "support/plans.hpp"
#include "support/simulation.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

namespace {

/// Recorders that take the place of the nodes of two candidates and a mixture, with two replicas each.
struct neighbours : simulation {
  using node = recorder<connect_reader, connect_source, connect_reports, connect_parts, connect_reducer,
                        connect_records, leave>;
  job_plan data = [] {
    auto w = two_candidates(small_dataset().batch(4).repeat(), 2);
    w.plan.nodes.push_back({.id = 90_node, .what = role::summary_writer, .name = "summary_writer", .driver = 0_node});
    std::erase_if(w.plan.edges, [](const plan_edge& e) { return e.kind != edge_kind::data; });
    add_service_edges(w.plan, true);
    return w.plan;
  }();
  checked_plan plan = std::move(*checked_plan::of(data));
  std::map<node_id, node> nodes;
  roster all = [this] {
    std::vector<member> members;
    for (const auto& n : plan->nodes)
      if (n.what != role::chief)
        members.push_back({n.id, n.what, n.group, n.name});
    roster made{members};
    for (const auto& m : members)
      made.started(m.id, nodes
                             .emplace(m.id, record<connect_reader, connect_source, connect_reports, connect_parts,
                                                   connect_reducer, connect_records, leave>())
                             .first->second.address());
    return made;
  }();
  caf::scoped_actor driver{system};
  neighbourhood around{*driver.ptr(), plan, all};

  std::set<node_id> everyone() const {
    std::set<node_id> ids;
    for (const auto& m : all.members())
      ids.insert(m.id);
    return ids;
  }
  node& named(const std::string& name) {
    const auto n = std::find_if(plan->nodes.begin(), plan->nodes.end(),
                                [&](const plan_node& x) { return x.name == name; });
    REQUIRE(n != plan->nodes.end());
    return nodes.at(n->id);
  }
};

}  // namespace

TEST_CASE_FIXTURE(neighbours, "each node learns of the nodes at the other ends of its edges, each edge once") {
  around.connect(everyone());
  run();
  CHECK(named("feed").count<connect_reader>() == 6);
  CHECK(named("feed").count<connect_parts>() == 1);
  CHECK(named("mixture/replica/0").count<connect_source>() == 3);
  CHECK(named("a/replica/1").count<connect_reader>() == 1);
  for (const auto* name : {"a/replica/0", "b/replica/1", "mixture/replica/1"}) {
    CHECK(named(name).last<connect_reports>().sink == named("outfeed").as<report_sink_actor>());
    CHECK(named(name).last<connect_parts>().writer == named("checkpoint_writer").as<part_sink_actor>());
  }
  CHECK(named("a/replica/0").last<connect_reducer>().reducer == named("a/reducer").as<gradient_sink_actor>());
  CHECK(named("outfeed").last<connect_records>().writer == named("summary_writer").as<record_sink_actor>());
  CHECK(named("summary_writer").count<connect_parts>() == 1);
}

TEST_CASE_FIXTURE(
    neighbours,
    "a node in the place of another is told to its neighbours, and they to it; one that has ended is told to nobody") {
  const auto id_of = [&](const std::string& name) {
    return std::find_if(plan->nodes.begin(), plan->nodes.end(), [&](const plan_node& x) { return x.name == name; })->id;
  };
  all.ended(id_of("b/replica/0"));
  around.connect({id_of("mixture/replica/0")});
  run();
  CHECK(named("mixture/replica/0").count<connect_source>() == 2);
  CHECK(named("feed").count<connect_reader>() == 1);
  CHECK(named("a/replica/0").count<connect_reader>() == 1);
  CHECK(named("a/replica/1").count<connect_reader>() == 0);
  CHECK(named("b/replica/0").count<connect_reader>() == 0);
}

TEST_CASE_FIXTURE(neighbours, "the neighbours of a group that leaves are told, but for those that have left with it") {
  SUBCASE("it leaves alone") {
    around.leave({{2_group, 12}}, {2_group}, 1);
    run();
    CHECK(named("feed").count<leave>() == 2);
    CHECK(named("feed").last<leave>().step == 12);
    CHECK(named("mixture/replica/0").count<leave>() == 1);
  }
  SUBCASE("a reader falls with it") {
    around.leave({{0_group, 12}, {2_group, 12}}, {0_group, 2_group}, 1);
    run();
    CHECK(named("feed").count<leave>() == 4);
    CHECK(named("a/replica/0").count<leave>() == 1);
    CHECK(named("mixture/replica/0").count<leave>() == 0);
  }
  CHECK(named("b/replica/0").count<leave>() == 0);
}

}  // namespace troupe::test
