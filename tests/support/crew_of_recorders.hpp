// A crew whose nodes are recorders: the neighbours of an evaluator or a predictor under test.
#pragma once

#include "actors/crew.hpp"
#include "support/ids.hpp"
#include "support/simulation.hpp"

namespace troupe::test {

/// Recorders for nodes, new ones at every start.
struct crew_of_recorders final : crew {
  using node = recorder<begin, troupe::run, connect_reader, connect_source, connect_reports, probe>;
  simulation& world;
  std::string driver_name;
  std::vector<node> sources, workers, drains;
  checked_plan edges = [] {
    job_plan p;
    p.programs.push_back({"m", mode::evaluate});
    p.datasets.push_back({"d", mode::evaluate});
    const std::vector<std::string> data{std::string{data_port}};
    p.nodes = {{.id = 0_node, .what = role::outfeed, .name = "outfeed", .driver = 3_node},
               {.id = 1_node, .what = role::replica, .name = "replica/0", .driver = 3_node, .program = 0, .in_ports = data},
               {.id = 2_node, .what = role::infeed, .name = "infeed/0", .driver = 3_node, .dataset = 0, .out_ports = data},
               {.id = 3_node, .what = role::evaluator, .name = "evaluator"}};
    p.edges = {{.id = 4_edge, .from = 2_node, .to = 1_node}};
    add_service_edges(p, false);
    return std::move(*checked_plan::of(std::move(p)));
  }();

  static node& add(simulation& world, std::vector<node>& to) {
    to.push_back(world.record<begin, troupe::run, connect_reader, connect_source, connect_reports, probe>());
    return to.back();
  }
  explicit crew_of_recorders(simulation& w, std::string driver = "evaluator") : world(w), driver_name(std::move(driver)) {}
  std::vector<member> members() const override {
    return {{0_node, role::outfeed, {}, driver_name + "/outfeed"}, {1_node, role::replica, {}, driver_name + "/replica/0"},
            {2_node, role::infeed, {}, driver_name + "/infeed/0"}};
  }
  caf::strong_actor_ptr start(node_id id, const caf::strong_actor_ptr&) override {
    return add(world, id == 0_node ? drains : id == 1_node ? workers : sources).address();
  }
  const checked_plan& plan() const override { return edges; }
  void end(node_id id) override {
    auto& nodes = id == 0_node ? drains : id == 1_node ? workers : sources;
    caf::anon_send_exit(nodes.back().address(), caf::exit_reason::user_shutdown);
  }
  void cancel() override {}
  void cancel_reads() override {}
  void cancel_steps() override {}
  void begin_attempt() override {}
};

}  // namespace troupe::test
