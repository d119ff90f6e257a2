// The agents of a driver: the actors that start, interrupt and end its nodes, one for each place.
#pragma once

#include "actors/roster.hpp"
#include "plan/checked_plan.hpp"

#include <caf/fwd.hpp>

#include <map>
#include <set>

namespace troupe {

/// The nodes of `driver` in the order of starting; none of them is started.
std::vector<member> members_of(const checked_plan& plan, node_id driver);

/// What a driver knows of its nodes.
struct driven_nodes {
  node_id driver{};
  std::shared_ptr<const checked_plan> plan;
  std::map<int32_t, agent_actor> agents;  ///< By place.
};

/// Used on the driver's thread; no call blocks.
class agents {
 public:
  agents() = default;
  /// `driver` outlives this object and monitors the agents.
  agents(caf::local_actor& driver, const driven_nodes& of);

  /// Begins an attempt at every place: asks for these nodes and lifts the cancellation. Answers to earlier calls are no
  /// longer awaited.
  void start(int32_t attempt, const checked_plan& plan, const std::vector<node_id>& nodes);
  /// If the answer is awaited, adds its nodes to the roster, monitors them and returns true. Otherwise returns false;
  /// the nodes of such an answer end or have ended.
  bool on(const started& x, roster& nodes);
  /// Whether answers are on their way.
  bool awaited() const noexcept { return !awaited_.empty(); }
  /// Has the plan that `books` want prepared at every place.
  void ask_to_prepare(int32_t attempt, const newest& books);
  /// Returns false if the answer is not awaited.
  bool on(const prepared& x);
  bool prepares() const noexcept { return !preparing_.empty(); }
  /// No answer is awaited after this.
  void give_up() {
    awaited_.clear();
    preparing_.clear();
  }
  /// The names of the agents whose answers are awaited: "agent, agent/1".
  std::string names_of_awaited() const;
  /// The nodes in the answers to the last `start`.
  const std::set<node_id>& newcomers() const noexcept { return newcomers_; }

  void end(const std::vector<node_id>& nodes) const;
  void interrupt(enum cancel::kind what) const;
  /// The name of the agent with that address; empty if no agent has it.
  std::string name_of(const caf::actor_addr& address) const;

 private:
  template <class M>
  void tell(const agent_actor& to, M message) const;

  caf::local_actor* driver_ = nullptr;
  node_id number_{};
  std::map<int32_t, agent_actor> by_place_;
  int32_t attempt_ = 0;
  std::set<int32_t> awaited_, preparing_;  ///< Places whose answers are awaited.
  std::set<node_id> newcomers_;
};

/// "agent", "agent/1".
std::string agent_name(int32_t place);

}  // namespace troupe
