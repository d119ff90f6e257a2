// The scheduler of Troupe's own actor systems: one worker thread for actors that never block, and one thread for the
// clock.
//
// CAF's scheduler creates its threads while the actor system is constructed, where a failure ends the process. This one
// receives threads that exist already. Its worker sleeps while there is no work; CAF's workers poll every 10 ms.
#pragma once

#include "pipeline/launch/actor_thread.hpp"

#include <caf/actor_system_config.hpp>
#include <caf/detail/thread_safe_actor_clock.hpp>
#include <caf/scheduler/abstract_coordinator.hpp>

#include <condition_variable>
#include <deque>
#include <mutex>

namespace troupe {

struct scheduler_threads {
  actor_thread worker, clock;
  /// Error: resource_exhausted if the system cannot create a thread.
  static expected<scheduler_threads> start();
};

class job_scheduler final : public caf::scheduler::abstract_coordinator {
 public:
  job_scheduler(caf::actor_system& system, scheduler_threads threads);
  /// Makes a `job_scheduler` the scheduler of the actor system that is constructed from `config`. Only one system may
  /// use it.
  static void use(caf::actor_system_config& config, scheduler_threads threads);

  void enqueue(caf::resumable* job) override;
  caf::actor_clock& clock() noexcept override { return clock_; }

 protected:
  void start() override;
  void stop() override;

 private:
  class worker;
  void work();
  caf::resumable* next();

  scheduler_threads threads_;
  caf::detail::thread_safe_actor_clock clock_;
  std::mutex guard_;
  std::condition_variable changed_;
  std::deque<caf::resumable*> jobs_;
  bool stopping_ = false;
};

}  // namespace troupe
