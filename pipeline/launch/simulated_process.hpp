// A process in a simulated world: several jobs share one world, with its clock, and one memory disk, as processes share
// a machine. Each has its own agents, so that its nodes and events are told apart, and can be killed as a process is.
#pragma once

#include "pipeline/launch/launcher.hpp"
#include "pipeline/launch/simulated_world.hpp"

namespace troupe {

class simulated_process final : public job_world {
 public:
  /// The nodes of the process are called "<name>/<node>" in the world; with an empty name as they are in the plan.
  simulated_process(std::shared_ptr<simulated_world> world, std::string name);

  caf::actor_system& system() override { return world_->system(); }
  bool threads() const override { return false; }
  carrier* messages() override { return world_->messages(); }
  std::shared_ptr<job_listener> listener() const override;
  void tell_time_and_host(prepared_job& job) const override { world_->tell_time_and_host(job); }
  bool wait_until(const std::function<bool()>& there, std::optional<std::chrono::milliseconds> deadline) override {
    return world_->wait_until(there, deadline);
  }
  /// Kills the actors of the process that are still alive at the deadline.
  void end(std::chrono::milliseconds deadline) override;

  /// Ends all actors of the process at once, and with them its locks and holds: none handles another message.
  void kill();
  bool any_alive() const;
  const std::vector<job_event>& events() const noexcept;

 private:
  class process_listener;
  std::shared_ptr<simulated_world> world_;
  std::shared_ptr<process_listener> listener_;
};

/// Launches jobs as processes of one world.
class process_launcher final : public launcher {
 public:
  process_launcher(std::shared_ptr<simulated_world> world, std::string name)
    : world_(std::move(world)), name_(std::move(name)) {}
  /// The process of the newest job. At least one job must have been launched.
  simulated_process& process() const noexcept { return *newest_; }

 private:
  expected<std::shared_ptr<job_world>> make_world() override {
    return newest_ = std::make_shared<simulated_process>(world_, name_);
  }

  std::shared_ptr<simulated_world> world_;
  std::string name_;
  std::shared_ptr<simulated_process> newest_;
};

}  // namespace troupe
