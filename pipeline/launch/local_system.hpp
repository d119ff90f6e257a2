// What everything that runs on real threads shares: the settings of its actor system, and the wait for its actors' ends.
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

/// What an actor of this process needs to tell wall time from its own clock, which is the steady one, and in which host it is.
void tell_time_and_place(prepared_job& job);

/// `deadline` as long as a clock can add it to its present time: for ever is as good as a century.
std::chrono::milliseconds bounded(std::chrono::milliseconds deadline);

/// Makes Troupe's messages known to whoever is made from `config`; whether `system` was.
void add_types(caf::actor_system_config& config);
bool has_types(const caf::actor_system& system);

/// Which actors were started, and whether they have ended. Any thread.
class node_watch {
 public:
  void started(const caf::strong_actor_ptr& node);
  void kill_all();
  /// Whether every node has ended. Waits for them at most so long.
  bool all_ended(std::chrono::milliseconds deadline);

 private:
  std::mutex guard_;
  std::condition_variable nobody_calls_;
  std::vector<caf::actor_addr> nodes_;
};

/// An actor system of one's own. Its destructor waits for every actor in it.
class local_system {
 public:
  /// resource_exhausted where there is no thread, or no memory, for its scheduler.
  static expected<std::unique_ptr<local_system>> make();

  caf::actor_system& operator*() noexcept { return *system_; }
  /// An actor that is inside a call that never returns would keep the system, and with it the thread that ends it, for ever:
  /// both are left behind instead.
  void leave_behind();

 private:
  explicit local_system(scheduler_threads threads);

  std::unique_ptr<caf::actor_system_config> config_;
  std::unique_ptr<caf::actor_system> system_;
};

}  // namespace troupe
