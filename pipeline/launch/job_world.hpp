// The world of a job: the actor system that its actors live in, their threads and clock, and how a thread outside waits.
// It is all in which launchers differ; training, evaluating and predicting are written once, over this interface.
#pragma once

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

/// Hears of a job's actors and boards, on their threads. Actors hold it, so it may outlive the world if some are left behind.
class job_listener {
 public:
  virtual ~job_listener() = default;
  /// An actor was started: a node of the plan, by its name there, or one of the launcher's own.
  virtual void started(const std::string& name, const caf::strong_actor_ptr& actor) = 0;
  /// A board has changed: whoever is inside `wait_until` looks again.
  virtual void changed() = 0;
  virtual void happened(const job_event& what) = 0;
  /// Kills every actor that was started.
  virtual void kill_all() = 0;
};

/// One for each job. A prepared job is told of it, spawns its actors in it and ends with it.
class job_world {
 public:
  job_world() = default;
  job_world(const job_world&) = delete;
  job_world& operator=(const job_world&) = delete;
  virtual ~job_world() = default;

  virtual caf::actor_system& system() = 0;
  /// True: actors that may block are detached. False: all are on the scheduler, since simulation cannot crank a detached actor.
  virtual bool threads() const = 0;
  /// Carries the messages of its actors; null: they go straight to the mailboxes.
  virtual carrier* messages() { return nullptr; }
  virtual std::shared_ptr<job_listener> listener() const = 0;
  /// Sets the offset of wall time from the actors' clock, and the name of the host.
  virtual void tell_time_and_host(prepared_job& job) const = 0;
  /// Waits until `there` holds, at most until the deadline (absent: for ever), and returns whether it holds. `there` takes its own
  /// locks; it may change only where `job_listener::changed` is called afterwards.
  virtual bool wait_until(const std::function<bool()>& there, std::optional<std::chrono::milliseconds> deadline) = 0;
  /// Waits until every actor that was started has ended, at most until the deadline, and leaves the others behind.
  virtual void end(std::chrono::milliseconds deadline) = 0;
};

/// Limits `deadline` to a century, so that a clock can add it to its present time without overflow.
inline std::chrono::milliseconds bounded(std::chrono::milliseconds deadline) {
  using namespace std::chrono_literals;
  return std::clamp<std::chrono::milliseconds>(deadline, 0ms, 24h * 365 * 100);
}

}  // namespace troupe
