// A world on threads and the system's clock: in an actor system of the job's own, or in the program's.
#pragma once

#include "pipeline/launch/job_world.hpp"
#include "pipeline/launch/local_system.hpp"

namespace troupe {

class local_world final : public job_world {
 public:
  explicit local_world(std::unique_ptr<local_system> own);
  /// `host` outlives the world, and is neither awaited nor ended.
  explicit local_world(caf::actor_system& host);

  caf::actor_system& system() override { return system_; }
  bool threads() const override { return true; }
  std::shared_ptr<job_listener> listener() const override;
  void tell_time_and_host(prepared_job& job) const override;
  bool wait_until(const std::function<bool()>& there, std::optional<std::chrono::milliseconds> deadline) override;
  void end(std::chrono::milliseconds deadline) override;

 private:
  class local_listener;
  std::unique_ptr<local_system> own_;  ///< Null in the program's system.
  caf::actor_system& system_;
  std::shared_ptr<local_listener> listener_;
};

}  // namespace troupe
