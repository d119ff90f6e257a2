// The crew of a prepared job: spawns the nodes of its plan in one actor system, on separate threads or on its scheduler.
#pragma once

#include "actors/crew.hpp"
#include "pipeline/launch/prepared_job.hpp"

#include <caf/fwd.hpp>

namespace troupe {

/// Called with the name and handle of every node that is started, so that a simulation can kill a node by name.
using node_listener = std::function<void(const std::string& name, const caf::strong_actor_ptr& node)>;

/// The crew of the nodes that `driver` drives; no_node: the launcher, whose crew is the chief, or an evaluator and its
/// summary writer, or a predictor. `threads` true: actors that may block are detached (local); false: all are on the
/// scheduler (simulation, which cannot crank a detached actor).
std::shared_ptr<crew> make_crew(caf::actor_system& system, std::shared_ptr<prepared_job> job, node_id driver, bool threads,
                                node_listener started = {});

/// Starts the only node of that role in the launcher's crew, which reports to `asker`.
template <class Handle>
Handle start_head(crew& launcher, role what, const caf::strong_actor_ptr& asker = {}) {
  for (const auto& m : launcher.members())
    if (m.what == what)
      return caf::actor_cast<Handle>(launcher.start(m.id, asker));
  return {};
}

/// Starts the predictor of a job, which fills `board`. It does nothing before the first `pull`.
predictor_actor start_predictor(caf::actor_system& system, std::shared_ptr<prepared_job> job, std::shared_ptr<prediction_board> board, bool threads,
                                node_listener started = {});

}  // namespace troupe
