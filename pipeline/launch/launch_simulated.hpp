// A prepared job in simulation: the same actors on CAF's deterministic scheduler, one message in each turn, in an order
// drawn by seed, with a virtual clock that moves only when no actor has a message.
#pragma once

#include "messages/control.hpp"
#include "pipeline/launch/launch.hpp"
#include "pipeline/launch/prepared_job.hpp"
#include "pipeline/launch/world_gauge.hpp"

namespace troupe {

class simulated_job final : public running_job {
 public:
  simulated_job(std::shared_ptr<prepared_job> job, uint64_t seed);
  ~simulated_job() override;

  job_progress progress() const override;
  void ask(uint8_t request_kind, bool by_signal) override;
  /// Cranks until there is a result. The deadline is in virtual time.
  std::optional<expected<train_result>> wait(std::optional<std::chrono::milliseconds> deadline) override;

  /// Handles one message of one actor, or one timeout if no actor has a message. False: there is neither.
  bool crank();
  /// Cranks until `there` holds, at most `turns` times. Returns whether it holds.
  bool crank_until(const std::function<bool()>& there, int64_t turns = 5'000'000);
  /// From now on, nodes of that name take one of `factor` turns that fall to them while others have messages.
  void slow_down(const std::string& node, int64_t factor);
  /// From now on until `left`, nodes of that name get no turn, as inside a call that does not return.
  void hang(const std::string& node);
  /// Advances the clock by `time`, as in a call that takes so long. Called within a turn or between two.
  void pass(std::chrono::nanoseconds time);
  /// Ends a node as a crash would. False: no node of that name is alive.
  bool kill(const std::string& node);
  const std::vector<job_event>& events() const;
  std::chrono::nanoseconds now() const;
  int64_t turns() const;
  /// Hash of the order in which actors got their turns: equal for equal seeds and plans.
  uint64_t trace_hash() const;
  /// From now on adds a line for each turn to `text`, which outlives the job: its number, the virtual time in nanoseconds,
  /// the node or '-'.
  void trace_to(std::string* text);
  /// Whether there is a result, or the chief has ended without one.
  bool ended() const;
  /// The fullest mailboxes and the timers of all turns so far.
  world_gauge gauge() const;
  /// Handles all pending messages and returns the names of the actors that are still alive.
  std::vector<std::string> left();

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe
