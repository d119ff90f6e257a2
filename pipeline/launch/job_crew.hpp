// The crew of a prepared job: spawns the nodes of its plan into one actor system, on threads of their own or on its scheduler.
#pragma once

#include "actors/crew.hpp"
#include "pipeline/launch/prepared_job.hpp"

#include <caf/fwd.hpp>

namespace troupe {

/// Told of every node that is started, by name: how a simulation finds whom to kill.
using node_listener = std::function<void(const std::string& name, const caf::strong_actor_ptr& node)>;

/// Of the nodes that `driver` drives; no_node: the launcher, whose crew is the chief, or an evaluator and its event file, or a predictor.
/// `threads` true: whatever may block is detached (local); false: everything is on the scheduler (simulation, where a
/// detached actor would have a thread that nobody cranks).
std::shared_ptr<crew> make_crew(caf::actor_system& system, std::shared_ptr<prepared_job> job, node_id driver, bool threads,
                                node_listener started = {});

/// The only node of that role in the launcher's crew, started by it, which reports to `asker`.
template <class Handle>
Handle start_head(crew& launcher, role what, const caf::strong_actor_ptr& asker = {}) {
  for (const auto& m : launcher.members())
    if (m.what == what)
      return caf::actor_cast<Handle>(launcher.start(m.id, asker));
  return {};
}

/// The predictor of a job, which fills `board`. Nothing happens before it is pulled.
predictor_actor start_predictor(caf::actor_system& system, std::shared_ptr<prepared_job> job, std::shared_ptr<prediction_board> board, bool threads,
                                node_listener started = {});

}  // namespace troupe
