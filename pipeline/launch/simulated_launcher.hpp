// Launches jobs in simulation: the same actors, on a deterministic scheduler. A call that waits runs the schedule.
#pragma once

#include "pipeline/launch/launcher.hpp"
#include "pipeline/launch/simulated_world.hpp"

namespace troupe {

/// Each job has its own world; all worlds have the same seed and conditions.
class simulated_launcher final : public launcher {
 public:
  explicit simulated_launcher(uint64_t seed, world_conditions conditions = {})
    : seed_(seed), conditions_(std::move(conditions)) {}
  /// The world of the newest job. At least one job must have been launched.
  simulated_world& world() const noexcept { return *newest_; }

 private:
  expected<std::shared_ptr<job_world>> make_world() override {
    return newest_ = std::make_shared<simulated_world>(seed_, conditions_);
  }

  uint64_t seed_;
  world_conditions conditions_;
  std::shared_ptr<simulated_world> newest_;
};

}  // namespace troupe
