// A world on threads, with the system's clock. It has its own actor system or uses that of the host program.
#pragma once

#include "pipeline/launch/job_world.hpp"
#include "pipeline/launch/local_system.hpp"

namespace troupe {

class local_world final : public job_world {
 public:
  explicit local_world(std::unique_ptr<local_system> own);
  /// `host` must outlive the world. The world neither waits for it nor ends it.
  explicit local_world(caf::actor_system& host);

  caf::actor_system& system() override { return system_; }
  bool threads() const override { return true; }
  std::shared_ptr<job_listener> listener() const override;
  void tell_time_and_host(prepared_job& job) const override;
  bool wait_until(const std::function<bool()>& there, std::optional<std::chrono::milliseconds> deadline) override;
  void end(std::chrono::milliseconds deadline) override;

 private:
  class local_listener;
  std::unique_ptr<local_system> own_;  ///< Null if the world uses the host program's system.
  caf::actor_system& system_;
  std::shared_ptr<local_listener> listener_;
};

}  // namespace troupe
