// A simulated world: an actor system with one thread and a virtual clock. Each turn handles one message, in an order
// drawn by seed. Under conditions (conditions.hpp) turns and messages take time; without, time passes only when no
// actor has a message.
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
  /// Does not change an offset that a test has set.
  void tell_time_and_host(prepared_job& job) const override;
  /// Runs the schedule. The deadline is in virtual time.
  bool wait_until(const std::function<bool()>& there, std::optional<std::chrono::milliseconds> deadline) override;
  /// Kills the actors that are still alive at the deadline, since no actor may outlive this world.
  void end(std::chrono::milliseconds deadline) override;

  /// Handles one message of one actor. If none can run, advances the clock to the next event. Returns false if there is
  /// none.
  bool crank();
  /// Runs turns until `there` returns true, at most `turns` of them. Returns whether it is true.
  bool crank_until(const std::function<bool()>& there, int64_t turns = 5'000'000);

  // Faults. Those of a node apply to every present and future node of that name.
  /// While other nodes have messages, the node uses only one of `factor` turns, as on a slow disk or a busy core.
  void slow_down(const std::string& node, int64_t factor);
  /// The node gets no turn until `unhang`, `left` or `end_all`, like one inside a call that does not return.
  void hang(const std::string& node);
  void unhang(const std::string& node);
  /// The present node gets no turn for `time`, like one inside a call that takes so long.
  void occupy(const std::string& node, std::chrono::nanoseconds time);
  /// Within a turn: makes the current call take `time`. Other nodes continue meanwhile.
  void spend(std::chrono::nanoseconds time);
  /// No node runs for `time`, as if the process were stopped and continued. May be called within a turn or between two.
  void pass(std::chrono::nanoseconds time);
  /// Holds back messages between that place and all others until `heal`.
  void cut(const std::string& place);
  void heal(const std::string& place);
  /// Calls `what` between two turns, as soon as `time` has passed.
  void after(std::chrono::nanoseconds time, std::function<void()> what);
  /// Ends the newest node of that name like a crash. Returns false if it has ended or does not exist.
  bool kill(const std::string& node);
  /// Ends the newest node of that name as if one of its handlers threw an exception. Returns false as above.
  bool throw_in(const std::string& node);
  /// Kills all nodes of a place at once. Returns false if none is alive.
  bool kill_place(const std::string& place);

  /// The newest node of that name, to examine its state between two turns; null if there is none or it was destroyed.
  caf::strong_actor_ptr node(const std::string& name) const;
  /// The number of nodes that were ever started.
  size_t nodes_started() const noexcept;
  /// Ends all delays and hangs, handles all messages, and returns the names of the nodes that are still alive.
  std::vector<std::string> left();
  /// Kills all nodes and handles their exits: CAF's actor system waits for every actor when it is destroyed.
  void end_all();

  /// Called for each message that is put into a mailbox. `from` is empty for messages of the clock and from outside.
  using witness = std::function<void(const std::string& from, const std::string& to,
                                     const caf::type_erased_tuple& content)>;
  void watch(witness w);  ///< Replaces the earlier witness; an empty one removes it.

  /// The events of the job so far.
  const std::vector<job_event>& events() const noexcept { return events_; }
  std::chrono::nanoseconds now() const;
  int64_t turns() const noexcept;
  /// A hash of all turns and messages with their times and kinds: equal in every build for equal seeds, plans and
  /// conditions.
  uint64_t trace_hash() const noexcept;
  /// From now on adds a line for each turn to `text`: its number, the virtual time in nanoseconds, the node or '-'.
  /// `text` must outlive the world.
  void trace_to(std::string* text) noexcept { trace_ = text; }
  /// The maxima over all turns so far.
  world_gauge gauge() const;

 private:
  class simulated_listener;
  struct caf_side;  ///< Actor system, scheduler and seats. Hidden so that this header does not include CAF's.
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
