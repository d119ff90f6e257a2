// Agents: the actors of the launcher that start, interrupt and end nodes, one for each place of a plan, so that no driver spawns an actor. They
// run on the scheduler thread of their drivers, as nothing that they do blocks.
//
//   launcher ──► agent, agent/1 ...                         one for each place
//            ──► chief ── start_nodes ──► agent ──► infeed, replica, ..., evaluator
//                  ▲                        │                               │
//                  └────── started ─────────┘  ◄──── start_nodes ───────────┘
#pragma once

#include "actors/agents.hpp"
#include "pipeline/launch/job_world.hpp"
#include "pipeline/launch/prepared_job.hpp"

namespace troupe {

/// The agents of a launched job, and the only node that the launcher itself starts: the head, with whose end they end.
class launched_nodes {
 public:
  /// Starts an agent for each place. Nodes are those of `job`, in `world`.
  launched_nodes(job_world& world, std::shared_ptr<prepared_job> job);

  /// Of no_node, the launcher.
  driven_nodes driven() const;
  /// Starts the only node of that role that the launcher drives.
  template <class Handle>
  Handle start_head(role what) {
    return caf::actor_cast<Handle>(start_head(what));
  }
  /// The agents, and with them all other nodes, end with that actor.
  void end_with(const caf::strong_actor_ptr& head) const;
  /// Interrupts all steps and reads of the job.
  void interrupt() const;

 private:
  caf::strong_actor_ptr start_head(role what);

  job_world& world_;
  std::shared_ptr<prepared_job> job_;
  std::map<int32_t, agent_actor> agents_;
};

}  // namespace troupe
