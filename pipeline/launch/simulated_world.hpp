// A world in simulation: an actor system on CAF's deterministic scheduler, one message in each turn, in an order drawn by
// seed, with a virtual clock that moves only when no actor has a message.
#pragma once

#include "pipeline/launch/job_world.hpp"
#include "pipeline/launch/world_gauge.hpp"

#include <map>
#include <string>
#include <vector>

namespace troupe {

class simulated_world final : public job_world {
 public:
  explicit simulated_world(uint64_t seed);
  ~simulated_world() override;

  caf::actor_system& system() override;
  bool threads() const override { return false; }
  std::shared_ptr<job_listener> listener() const override;
  /// Leaves an offset that a test has set.
  void tell_time_and_host(prepared_job& job) const override;
  /// Cranks. The deadline is in virtual time.
  bool wait_until(const std::function<bool()>& there, std::optional<std::chrono::milliseconds> deadline) override;
  /// Kills those that are left at the deadline, since no actor outlives this world.
  void end(std::chrono::milliseconds deadline) override;

  /// Handles one message of one actor, or one timeout if no actor has a message. False: there is neither.
  bool crank();
  /// Cranks until `there` holds, at most `turns` times. Returns whether it holds.
  bool crank_until(const std::function<bool()>& there, int64_t turns = 5'000'000);
  /// From now on, nodes of that name take one of `factor` turns that fall to them while others have messages, as on a slow
  /// disk or a busy core.
  void slow_down(const std::string& node, int64_t factor);
  /// From now on until `left` or `end_all`, nodes of that name get no turn, as inside a call that does not return.
  void hang(const std::string& node) { slow_down(node, never); }
  /// Advances the clock by `time`, as in a call that takes so long. Called within a turn or between two.
  void pass(std::chrono::nanoseconds time);
  /// Ends a node as a crash would. False: no node of that name is alive.
  bool kill(const std::string& node);
  /// Handles all pending messages and returns the names of the nodes that are still alive.
  std::vector<std::string> left();
  /// Kills all nodes and handles their exits, since CAF waits for every actor when the system is destroyed.
  void end_all();

  /// The events of the job so far.
  const std::vector<job_event>& events() const noexcept { return events_; }
  std::chrono::nanoseconds now() const;
  int64_t turns() const noexcept { return turns_; }
  /// Hash of the order in which actors got their turns: equal for equal seeds and plans.
  uint64_t trace_hash() const noexcept { return hash_; }
  /// From now on adds a line for each turn to `text`, which outlives the world: its number, the virtual time in nanoseconds,
  /// the node or '-'.
  void trace_to(std::string* text) noexcept { trace_ = text; }
  /// The maxima over all turns so far.
  world_gauge gauge() const;

 private:
  class simulated_listener;
  struct caf_side;                       ///< Actor system, scheduler and actors, so that this header is free of CAF's.
  static constexpr int64_t never = 0;    ///< A factor of `slow_down`.
  void started(const std::string& name, const caf::strong_actor_ptr& node);
  void kill_all();
  uint64_t draw();
  int64_t slowness(const caf::resumable* job) const;
  bool all_hang() const;
  std::ptrdiff_t pick();
  void note_turn_of(caf::actor_id actor);
  void measure();
  std::vector<std::string> alive() const;

  std::unique_ptr<caf_side> caf_;
  std::shared_ptr<job_listener> listener_;
  uint64_t drawn_;
  std::vector<job_event> events_;
  std::map<std::string, int64_t> slow_;
  std::map<caf::actor_id, int64_t> slow_nodes_;                 ///< The started nodes among `slow_`.
  std::map<caf::actor_id, size_t> fullest_;                     ///< The most messages that ever waited for each node.
  size_t timers_ = 0, timers_before_ = 0, timers_beyond_actors_ = 0;
  bool time_passed_ = false;
  uint64_t hash_ = 0xcbf29ce484222325u;
  std::string* trace_ = nullptr;
  int64_t turns_ = 0;
};

}  // namespace troupe
