// The nodes of an evaluator or a predictor under test: recorders, which each start makes anew.
#pragma once

#include "actors/agents.hpp"
#include "support/fake_agent.hpp"
#include "support/ids.hpp"

namespace troupe::test {

struct recorded_nodes {
  using node = recorder<begin, troupe::run, connect_reader, connect_source, connect_reports, probe, halt>;
  std::vector<node> sources, workers, drains;
  fake_agent agent;
  driven_nodes driven;

  explicit recorded_nodes(simulation& world, role driver = role::evaluator) {
    agent.make = [this, &world](node_id id) {
      auto& all = id == 0_node ? drains : id == 1_node ? workers : sources;
      all.push_back(world.record<begin, troupe::run, connect_reader, connect_source, connect_reports, probe, halt>());
      return all.back().address();
    };
    const std::string name{to_string(driver)};
    job_plan p;
    p.programs.push_back({"m", mode::evaluate});
    p.datasets.push_back({"d", mode::evaluate});
    const std::vector<std::string> data{std::string{data_port}};
    p.nodes = {{.id = 0_node, .what = role::outfeed, .name = name + "/outfeed", .driver = 3_node},
               {.id = 1_node,
                .what = role::replica,
                .name = name + "/replica/0",
                .driver = 3_node,
                .program = 0,
                .in_ports = data},
               {.id = 2_node,
                .what = role::infeed,
                .name = name + "/infeed/0",
                .driver = 3_node,
                .dataset = 0,
                .out_ports = data},
               {.id = 3_node, .what = driver, .name = name}};
    p.edges = {{.id = 4_edge, .from = 2_node, .to = 1_node}};
    add_service_edges(p, false);
    driven = {3_node,
              std::make_shared<checked_plan>(std::move(*checked_plan::of(std::move(p)))),
              {{0, spawn_agent(world, agent)}}};
  }
};

}  // namespace troupe::test
