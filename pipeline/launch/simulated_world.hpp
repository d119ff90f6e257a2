// A world in simulation: an actor system with one thread and a virtual clock, one message in each turn, in an order drawn by seed.
// Under conditions (conditions.hpp) turns and messages take time; without, time passes only when no actor has a message.
#pragma once

#include "pipeline/launch/conditions.hpp"
#include "pipeline/launch/job_world.hpp"
#include "pipeline/launch/world_gauge.hpp"

#include <map>
#include <string>
#include <vector>

namespace troupe {

class simulated_world final : public job_world {
 public:
  explicit simulated_world(uint64_t seed, const world_conditions& conditions = {});
  ~simulated_world() override;

  caf::actor_system& system() override;
  bool threads() const override { return false; }
  carrier* messages() override;
  std::shared_ptr<job_listener> listener() const override;
  /// Leaves an offset that a test has set.
  void tell_time_and_host(prepared_job& job) const override;
  /// Cranks. The deadline is in virtual time.
  bool wait_until(const std::function<bool()>& there, std::optional<std::chrono::milliseconds> deadline) override;
  /// Kills those that are left at the deadline, since no actor outlives this world.
  void end(std::chrono::milliseconds deadline) override;

  /// Handles one message of one actor; if none can run, lets time pass to the next thing that happens. False: nothing will.
  bool crank();
  /// Cranks until `there` holds, at most `turns` times. Returns whether it holds.
  bool crank_until(const std::function<bool()>& there, int64_t turns = 5'000'000);

  // Troubles. Those of nodes hold for all nodes of that name that are there or come.
  /// The node takes one of `factor` turns that fall to it while others have messages, as on a slow disk or a busy core.
  void slow_down(const std::string& node, int64_t factor);
  /// The node gets no turn until `unhang`, `left` or `end_all`, as inside a call that does not return.
  void hang(const std::string& node);
  void unhang(const std::string& node);
  /// The node, as it is there now, gets no turn for `time`, as inside a call that takes so long.
  void occupy(const std::string& node, std::chrono::nanoseconds time);
  /// From within a turn: the call that is being made takes so long. The others go on meanwhile.
  void spend(std::chrono::nanoseconds time);
  /// Nobody runs for `time`, as in a process that is stopped and continued. Called within a turn or between two.
  void pass(std::chrono::nanoseconds time);
  /// Messages between that place and the others stay on their way until `heal`.
  void cut(const std::string& place);
  void heal(const std::string& place);
  /// Calls `what` between two turns as soon as the clock has gone on by `time`.
  void after(std::chrono::nanoseconds time, std::function<void()> what);
  /// Ends a node as a crash would. False: no node of that name is alive.
  bool kill(const std::string& node);
  /// Ends a node as an exception does that leaves one of its handlers. False: as above.
  bool throw_in(const std::string& node);
  /// Ends all nodes of a place at once. False: none is alive.
  bool kill_place(const std::string& place);

  /// The newest node of that name, for a look into its state between two turns; null: there is none, or it was destroyed.
  caf::strong_actor_ptr node(const std::string& name) const;
  /// How many nodes were ever started.
  size_t nodes_started() const noexcept;
  /// Ends all delays, handles all messages and returns the names of the nodes that are still alive.
  std::vector<std::string> left();
  /// Kills all nodes and handles their exits, since CAF waits for every actor when the system is destroyed.
  void end_all();

  /// Sees each message as it is put into a mailbox; `from` is empty for those of the clock and from outside.
  using witness = std::function<void(const std::string& from, const std::string& to, const caf::type_erased_tuple& content)>;
  void watch(witness w);  ///< In place of an earlier one; an empty one ends it.

  /// The events of the job so far.
  const std::vector<job_event>& events() const noexcept { return events_; }
  std::chrono::nanoseconds now() const;
  int64_t turns() const noexcept;
  /// Hash of all turns and messages with their times and kinds: equal for equal seeds, plans and conditions, in every build.
  uint64_t trace_hash() const noexcept;
  /// From now on adds a line for each turn to `text`, which outlives the world: its number, the virtual time in nanoseconds,
  /// the node or '-'.
  void trace_to(std::string* text) noexcept { trace_ = text; }
  /// The maxima over all turns so far.
  world_gauge gauge() const;

 private:
  class simulated_listener;
  struct caf_side;  ///< Actor system, scheduler and seats, so that this header is free of CAF's.
  void started(const std::string& name, const caf::strong_actor_ptr& node);
  void kill_all();
  void measure_timers();
  std::vector<std::string> alive() const;

  std::unique_ptr<caf_side> caf_;
  std::shared_ptr<job_listener> listener_;
  std::vector<job_event> events_;
  std::map<std::string, int64_t> slow_;
  std::map<std::string, bool> hangs_;
  size_t timers_ = 0, timers_before_ = 0, timers_beyond_actors_ = 0;
  std::string* trace_ = nullptr;
};

}  // namespace troupe
