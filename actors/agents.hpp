// The agents of a driver: the actors that start, interrupt and end its nodes, one for each place.
#pragma once

#include "actors/roster.hpp"
#include "plan/checked_plan.hpp"

#include <caf/fwd.hpp>

#include <map>
#include <set>

namespace troupe {

/// The nodes of that driver, none of them started, in the order in which they have to be started.
std::vector<member> members_of(const checked_plan& plan, node_id driver);

/// What a driver is told of its nodes.
struct driven_nodes {
  node_id driver{};
  std::shared_ptr<const checked_plan> plan;
  std::map<int32_t, agent_actor> agents;  ///< By place.
};

/// Used by the driver's thread; nothing blocks.
class agents {
 public:
  agents() = default;
  /// `driver` monitors them, and outlives this.
  agents(caf::local_actor& driver, const driven_nodes& of);

  /// Begins an attempt at every place: asks for these nodes, and lifts the cancellation. Nobody waits for an earlier answer any more.
  void start(int32_t attempt, const checked_plan& plan, const std::vector<node_id>& nodes);
  /// Enters the nodes of an answer that is awaited into the roster, and monitors them. False: it is not awaited, and its nodes end or have ended.
  bool on(const started& x, roster& nodes);
  /// Answers are on their way.
  bool awaited() const noexcept { return !awaited_.empty(); }
  /// Has another plan prepared at every place.
  void ask_to_prepare(int32_t attempt, const newest& books);
  /// False: the answer is not awaited.
  bool on(const prepared& x);
  bool prepares() const noexcept { return !preparing_.empty(); }
  /// No answer is awaited any more.
  void give_up() {
    awaited_.clear();
    preparing_.clear();
  }
  /// Of those whose answers are awaited: "agent, agent/1".
  std::string names_of_awaited() const;
  /// Those that the newest answers have brought.
  const std::set<node_id>& newcomers() const noexcept { return newcomers_; }

  void end(const std::vector<node_id>& nodes) const;
  void interrupt(enum cancel::kind what) const;
  /// The name of the agent with that address; empty: it is of none.
  std::string name_of(const caf::actor_addr& address) const;

 private:
  template <class M>
  void tell(const agent_actor& to, M message) const;

  caf::local_actor* driver_ = nullptr;
  node_id number_{};
  std::map<int32_t, agent_actor> by_place_;
  int32_t attempt_ = 0;
  std::set<int32_t> awaited_, preparing_;  ///< Places.
  std::set<node_id> newcomers_;
};

/// "agent", "agent/1".
std::string agent_name(int32_t place);

}  // namespace troupe
