// A prepared job in simulation: the same actors on CAF's deterministic scheduler, one message a turn, in an order drawn
// by seed, under a virtual clock that moves only when nobody has anything to do.
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
  /// Cranks until the result is there. The deadline is in virtual time.
  std::optional<expected<train_result>> wait(std::optional<std::chrono::milliseconds> deadline) override;

  /// One message of one actor, or one timeout when there is none. False when nothing is left to happen.
  bool crank();
  /// Cranks until `there`, at most `turns` times; whether it came true.
  bool crank_until(const std::function<bool()>& there, int64_t turns = 5'000'000);
  /// From now on, nodes of that name take one of `factor` turns that fall to them while others have something to do.
  void slow_down(const std::string& node, int64_t factor);
  /// From now on, nodes of that name get no turn, as inside a call that does not return; until `left`.
  void hang(const std::string& node);
  /// Time goes by, as in a call that takes so long. Within a turn or between two.
  void pass(std::chrono::nanoseconds time);
  /// Ends a node as a crash would. False when there is none of that name alive.
  bool kill(const std::string& node);
  const std::vector<job_event>& events() const;
  std::chrono::nanoseconds now() const;
  int64_t turns() const;
  /// Of the order in which actors got their turns: equal for equal seeds and plans.
  uint64_t trace_hash() const;
  /// From now on a line for each turn is added to `text`, which outlives the job: its number, the virtual time in nanoseconds, the node or '-'.
  void trace_to(std::string* text);
  /// Whether the result is there, or the chief is gone without one.
  bool ended() const;
  /// The fullest mailboxes and the timers of all turns so far.
  world_gauge gauge() const;
  /// Cranks what is left and names the actors that are still alive.
  std::vector<std::string> left();

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe
