// The world of a job: its actor system with threads and clock, and how an outside thread waits for it. Launchers differ
// only in their world; training, evaluation and prediction are written once, on top of this interface.
#pragma once

#include "words/bounded.hpp"

#include <troupe/hook.hpp>

#include <caf/fwd.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace troupe {

class carrier;
struct prepared_job;

/// Receives news of a job's actors and boards, on their threads. Actors hold it, so it may outlive the world if some
/// actors do not end in time.
class job_listener {
 public:
  virtual ~job_listener() = default;
  /// Called when an actor was started: a node, with its name in the plan, or an actor of the launcher.
  virtual void started(const std::string& name, const caf::strong_actor_ptr& actor) = 0;
  /// Called when a board has changed. Wakes the threads inside `wait_until`.
  virtual void changed() = 0;
  virtual void happened(const job_event& what) = 0;
  /// Kills every actor that was started.
  virtual void kill_all() = 0;
};

/// There is one world for each job. A prepared job spawns its actors in it and ends with it.
class job_world {
 public:
  job_world() = default;
  job_world(const job_world&) = delete;
  job_world& operator=(const job_world&) = delete;
  virtual ~job_world() = default;

  virtual caf::actor_system& system() = 0;
  /// True: actors that may block are detached. False: all actors run on the scheduler, since simulation cannot control
  /// a detached actor.
  virtual bool threads() const = 0;
  /// The carrier for the messages of all actors; null if messages go straight to the mailboxes.
  virtual carrier* messages() { return nullptr; }
  virtual std::shared_ptr<job_listener> listener() const = 0;
  /// Sets the job's host name, and the offset of wall time from the actors' clock.
  virtual void tell_time_and_host(prepared_job& job) const = 0;
  /// Waits until `there` returns true, at most until the deadline (absent: no limit). Returns whether it is true.
  /// `there` takes the locks that it needs. Each change of its result must be followed by a call of
  /// `job_listener::changed`.
  virtual bool wait_until(const std::function<bool()>& there, std::optional<std::chrono::milliseconds> deadline) = 0;
  /// Waits until every started actor has ended, at most until the deadline. Actors that are alive then are left
  /// running.
  virtual void end(std::chrono::milliseconds deadline) = 0;
};

}  // namespace troupe
