// A crew whose nodes are recorders: the neighbours of an evaluator or a predictor under test.
#pragma once

#include "actors/crew.hpp"
#include "support/simulation.hpp"

namespace troupe::test {

/// Recorders for nodes, new ones at every start.
struct crew_of_recorders final : crew {
  using node = recorder<begin, troupe::run, connect_reader, connect_source, probe>;
  simulation& world;
  std::string driver_name;
  std::vector<node> sources, workers, drains;

  static node& add(simulation& world, std::vector<node>& to) {
    to.push_back(world.record<begin, troupe::run, connect_reader, connect_source, probe>());
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
  void connect(node_id id) override {
    if (id != 2_node)
      return;
    caf::anon_send(sources.back().as<infeed_actor>(), connect_reader{4_edge, workers.back().as<block_sink_actor>()});
    caf::anon_send(workers.back().as<replica_actor>(), connect_source{4_edge, sources.back().as<credit_source_actor>()});
  }
  void remove(const std::map<group_id, int64_t>&, int32_t) override {}
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
