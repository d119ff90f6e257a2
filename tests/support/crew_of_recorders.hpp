// A crew whose nodes only remember: the neighbours of an evaluator or a predictor under test.
#pragma once

#include "actors/crew.hpp"
#include "support/simulation.hpp"

namespace troupe::test {

/// Recorders for nodes, new ones at every start.
struct crew_of_recorders final : crew {
  explicit crew_of_recorders(simulation& w) : world(w) {}

  using node = recorder<begin, troupe::run, connect, probe>;
  simulation& world;
  std::vector<node> sources, workers, drains;

  static node& add(simulation& world, std::vector<node>& to) {
    to.push_back(world.record<begin, troupe::run, connect, probe>());
    return to.back();
  }
  int32_t infeeds() const override { return 1; }
  int32_t replicas() const override { return 1; }
  std::vector<std::pair<int32_t, int32_t>> edges_of(int32_t) const override { return {{4, 0}}; }
  infeed_actor start_infeed(int32_t, part_sink_actor, input_listener_actor) override { return add(world, sources).as<infeed_actor>(); }
  replica_actor start_replica(int32_t, const replica_peers&) override { return add(world, workers).as<replica_actor>(); }
  outfeed_actor start_outfeed(progress_sink_actor, summary_writer_actor) override { return add(world, drains).as<outfeed_actor>(); }
  summary_writer_actor start_summary_writer(bool, chief_actor) override { return {}; }
  reducer_actor start_reducer() override { return {}; }
  checkpoint_writer_actor start_checkpoint_writer(chief_actor) override { return {}; }
  evaluator_actor start_evaluator(chief_actor) override { return {}; }
  callbacks_actor start_callbacks(chief_actor) override { return {}; }
  void cancel() override {}
  void cancel_reads() override {}
};

}  // namespace troupe::test
