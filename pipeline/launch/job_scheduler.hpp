// The scheduler of an actor system of our own: one worker for those who never block, and the clock.
//
// CAF's own makes its threads while the actor system is being made, where one that cannot be made ends the process. Ours get theirs
// before. The worker sleeps while there is nothing to do, where CAF's looks for work every 10 ms.
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
  /// resource_exhausted.
  static expected<scheduler_threads> start();
};

class job_scheduler final : public caf::scheduler::abstract_coordinator {
 public:
  job_scheduler(caf::actor_system& system, scheduler_threads threads);
  /// `config`'s actor system, of which there is one, has this scheduler.
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
