// Agents: the launcher's actors that start, interrupt and end nodes, so that no driver spawns an actor. There is one
// for each place of a plan. They run on the scheduler thread of their drivers, since they never block.
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

/// The agents of a launched job, and its head: the only node that the launcher starts itself. The agents end when the
/// head ends.
class launched_nodes {
 public:
  /// Starts an agent for each place. The nodes that they start belong to `job` and live in `world`.
  launched_nodes(job_world& world, std::shared_ptr<prepared_job> job);

  /// The nodes that the launcher itself drives (driver `no_node`).
  driven_nodes driven() const;
  /// Starts the head: the only node of role `what` that the launcher drives.
  template <class Handle>
  Handle start_head(role what) {
    return caf::actor_cast<Handle>(start_head(what));
  }
  /// Ends the agents, and with them all other nodes, when `head` ends.
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
