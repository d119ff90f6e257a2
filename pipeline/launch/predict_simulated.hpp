// Predictions in simulation: the same actors, cranked while `next` waits.
#pragma once

#include "pipeline/launch/launch.hpp"

namespace troupe {

class simulated_prediction final : public running_prediction {
 public:
  simulated_prediction(std::shared_ptr<prepared_job> job, uint64_t seed);
  ~simulated_prediction() override;

  void cancel() override;
  /// Handles one message of one actor, or one timeout if no actor has a message. False: there is neither.
  bool crank();
  /// Ends a node as a crash would. False: no node of that name is alive.
  bool kill(const std::string& node);
  /// Handles all pending messages and returns the names of the actors that are still alive.
  std::vector<std::string> left();
  std::chrono::nanoseconds now() const;

 private:
  void ask(int64_t until) override;
  bool wait() override;

  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe
