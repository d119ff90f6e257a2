// The crew of a prepared job: spawns the nodes of its plan in the job's world.
#pragma once

#include "actors/crew.hpp"
#include "pipeline/launch/job_world.hpp"
#include "pipeline/launch/prepared_job.hpp"

namespace troupe {

/// The crew of the nodes that `driver` drives; no_node: the launcher, whose crew is the chief, or an evaluator and its
/// summary writer, or a predictor.
std::shared_ptr<crew> make_crew(job_world& world, std::shared_ptr<prepared_job> job, node_id driver);

/// Starts the only node of that role in the launcher's crew, which reports to `asker`.
template <class Handle>
Handle start_head(crew& launcher, role what, const caf::strong_actor_ptr& asker = {}) {
  for (const auto& m : launcher.members())
    if (m.what == what)
      return caf::actor_cast<Handle>(launcher.start(m.id, asker));
  return {};
}

}  // namespace troupe
