// Shared by all jobs on real threads: the settings of their actor system, and the wait for the ends of their actors.
#pragma once

#include "messages/interfaces.hpp"
#include "pipeline/launch/job_scheduler.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <vector>

namespace troupe {

struct prepared_job;

/// Sets the offset of wall time from the actors' clock, which is steady, and the name of this host.
void tell_time_and_place(prepared_job& job);

/// Limits `deadline` to a century, so that a clock can add it to its present time without overflow.
std::chrono::milliseconds bounded(std::chrono::milliseconds deadline);

/// Adds Troupe's messages to `config`; whether the configuration of `system` has them.
void add_types(caf::actor_system_config& config);
bool has_types(const caf::actor_system& system);

/// The actors that were started, and whether they have ended. Used by any thread.
class node_watch {
 public:
  void started(const caf::strong_actor_ptr& node);
  void kill_all();
  /// Waits until every node has ended, at most until the deadline. Returns whether all have.
  bool all_ended(std::chrono::milliseconds deadline);

 private:
  std::mutex guard_;
  std::condition_variable nobody_calls_;
  std::vector<caf::actor_addr> nodes_;
};

/// A separate actor system for one job. Its destructor waits for every actor in it.
class local_system {
 public:
  /// resource_exhausted if there is no thread, or no memory, for its scheduler.
  static expected<std::unique_ptr<local_system>> make();

  caf::actor_system& operator*() noexcept { return *system_; }
  /// Leaks the system instead of destroying it: an actor inside a call that never returns would block the destructor, and
  /// with it the calling thread, for ever.
  void leave_behind();

 private:
  explicit local_system(scheduler_threads threads);

  std::unique_ptr<caf::actor_system_config> config_;
  std::unique_ptr<caf::actor_system> system_;
};

}  // namespace troupe
