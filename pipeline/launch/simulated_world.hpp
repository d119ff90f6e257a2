// A world in simulation: an actor system on CAF's deterministic scheduler, one message a turn, in an order drawn by seed,
// under a virtual clock that moves only when nobody has anything to do.
#pragma once

#include "messages/interfaces.hpp"
#include "pipeline/launch/world_gauge.hpp"

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/scheduler/test_coordinator.hpp>

#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace troupe {

class simulated_world {
 public:
  explicit simulated_world(uint64_t seed);
  ~simulated_world() = default;
  simulated_world(const simulated_world&) = delete;
  simulated_world& operator=(const simulated_world&) = delete;

  caf::actor_system& system() noexcept { return system_; }
  void started(const std::string& name, const caf::strong_actor_ptr& node);

  /// One message of one actor, or one timeout when there is none. False when nothing is left to happen.
  bool crank();
  /// Cranks until `there`, at most `turns` times; whether it came true.
  bool crank_until(const std::function<bool()>& there, int64_t turns = 5'000'000);
  /// From now on, nodes of that name take one of `factor` turns that fall to them while others have something to do: as on a slow
  /// disk, or a busy core.
  void slow_down(const std::string& node, int64_t factor);
  /// From now on, nodes of that name get no turn, as inside a call that does not return; until `left` or `end_all`.
  void hang(const std::string& node) { slow_down(node, never); }
  /// Time goes by, as in a call that takes so long. Within a turn or between two.
  void pass(std::chrono::nanoseconds time);
  /// Ends a node as a crash would. False when there is none of that name alive.
  bool kill(const std::string& node);
  /// Cranks what is left and names the nodes that are still alive.
  std::vector<std::string> left();
  /// CAF waits for every actor when the system goes: whoever is left is killed and cranked first.
  void end_all();

  std::chrono::nanoseconds now() const;
  int64_t turns() const noexcept { return turns_; }
  /// Of the order in which actors got their turns: equal for equal seeds and plans.
  uint64_t trace_hash() const noexcept { return hash_; }
  /// From now on a line for each turn is added to `text`: its number, the virtual time in nanoseconds, the node or '-'.
  void trace_to(std::string* text) noexcept { trace_ = text; }
  /// Of all turns so far.
  world_gauge gauge() const;

 private:
  struct settings final : caf::actor_system_config {
    settings();
  };
  static constexpr int64_t never = 0;  ///< A factor of `slow_down`.
  uint64_t draw();
  int64_t slowness(const caf::resumable* job) const;
  bool all_hang() const;
  std::ptrdiff_t pick();
  void note_turn_of(caf::actor_id actor);
  void measure();

  settings settings_;
  caf::actor_system system_;
  caf::scheduler::test_coordinator& schedule_;
  uint64_t drawn_;
  std::vector<std::pair<std::string, caf::actor_addr>> nodes_;  ///< All that were ever started.
  std::map<std::string, int64_t> slow_;
  std::map<caf::actor_id, int64_t> slow_nodes_;                 ///< Those of them that were started.
  std::map<caf::actor_id, size_t> fullest_;                     ///< By node: the most messages that waited for it.
  size_t timers_ = 0, timers_before_ = 0, timers_beyond_actors_ = 0;
  bool time_passed_ = false;
  uint64_t hash_ = 0xcbf29ce484222325u;
  std::string* trace_ = nullptr;
  int64_t turns_ = 0;
};

}  // namespace troupe
