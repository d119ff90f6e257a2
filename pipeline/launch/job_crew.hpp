// The crew of a prepared job: spawns its nodes into one actor system, on threads of their own or on its scheduler.
#pragma once

#include "actors/chief/chief.hpp"
#include "actors/prediction_board.hpp"
#include "pipeline/launch/prepared_job.hpp"

#include <caf/fwd.hpp>

namespace troupe {

/// Told of every node that is started, by name: how a simulation finds whom to kill.
using node_listener = std::function<void(const std::string& name, const caf::strong_actor_ptr& node)>;

/// `threads` true: whatever may block is detached (local); false: everything is on the scheduler (simulation, where a
/// detached actor would have a thread that nobody cranks).
std::shared_ptr<crew> make_crew(caf::actor_system& system, std::shared_ptr<prepared_job> job, bool threads, node_listener started = {});

/// Chief options of a training job.
chief_options make_chief_options(const prepared_job& job, std::shared_ptr<crew> nodes, std::shared_ptr<job_board> board);
/// The evaluator of a job, with a crew of its own.
evaluator_actor spawn_evaluator(caf::actor_system& system, std::shared_ptr<prepared_job> job, bool threads, caf::strong_actor_ptr asker,
                                node_listener started = {});
/// The writer of the event file of a job's evaluations; what it cannot write is a `failure` to `told`.
summary_writer_actor spawn_eval_summary_writer(caf::actor_system& system, std::shared_ptr<prepared_job> job, bool threads, chief_actor told,
                                               node_listener started = {});
/// The predictor of a job, with a crew of its own. Nothing happens before it is pulled.
predictor_actor spawn_predictor(caf::actor_system& system, std::shared_ptr<prepared_job> job, bool threads,
                                std::shared_ptr<prediction_board> board, node_listener started = {});

}  // namespace troupe
