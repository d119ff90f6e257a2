// Spawns the actors for the nodes of a prepared job.
#pragma once

#include "actors/agents.hpp"
#include "pipeline/launch/job_world.hpp"
#include "pipeline/launch/prepared_job.hpp"
#include "pipeline/launch/preparer.hpp"
#include "pipeline/launch/spawn.hpp"

#include <set>
#include <utility>

namespace troupe {

/// Used by one thread at a time.
class node_maker {
 public:
  node_maker(job_world& world, std::shared_ptr<prepared_job> job);

  /// Nodes that are started from now on belong to `job`.
  void use(std::shared_ptr<prepared_job> job);
  /// Starts a node that reports to `driver`. A node that is started again gets its own engine. A node that drives
  /// others starts them through `agents`.
  caf::strong_actor_ptr start(const plan_node& n, const caf::strong_actor_ptr& driver,
                              const std::map<int32_t, agent_actor>& agents);
  preparer_actor start_preparer(preparer_options options);
  /// For the log: in what nodes started since the last call run otherwise than was asked.
  std::vector<std::string> take_warnings() { return std::exchange(warnings_, {}); }

 private:
  template <class F, class... Ts>
  caf::strong_actor_ptr as_node(const plan_node& n, F f, Ts&&... xs);
  caf::strong_actor_ptr spawn(const plan_node& n, const caf::strong_actor_ptr& driver,
                              const std::map<int32_t, agent_actor>& agents);
  void forget_memory_of(const plan_node& n);
  std::optional<int32_t> processor_of(const plan_node& n);
  std::shared_ptr<gradient_reduction> reduction_of(group_id group) const;

  caf::actor_system& system_;  // Not `job_world`: a driver that is left running outlives the world.
  spawn_options how_;
  std::shared_ptr<job_listener> listener_;
  std::shared_ptr<prepared_job> job_;
  std::set<node_id> started_once_;
  std::vector<std::string> warnings_;
};

}  // namespace troupe
