// The actor system of a job on threads, and the message types that an actor system needs for jobs.
#pragma once

#include "messages/interfaces.hpp"
#include "pipeline/launch/job_scheduler.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>

#include <memory>

namespace troupe {

/// `add_types` adds Troupe's message types to `config`; `has_types` returns whether `system` was made with them.
void add_types(caf::actor_system_config& config);
bool has_types(const caf::actor_system& system);

/// A separate actor system for one job. Its destructor waits for every actor in it.
class local_system {
 public:
  /// Error: resource_exhausted if there is no thread or no memory for its scheduler.
  static expected<std::unique_ptr<local_system>> make();

  caf::actor_system& operator*() noexcept { return *system_; }
  /// Leaks the system instead of destroying it: if an actor is inside a call that never returns, the destructor would
  /// block the calling thread forever.
  void leave_behind();

 private:
  explicit local_system(scheduler_threads threads);

  std::unique_ptr<caf::actor_system_config> config_;
  std::unique_ptr<caf::actor_system> system_;
};

}  // namespace troupe
