// A sub-plan: the infeeds, replicas and outfeed that an evaluator or a predictor drives, beside a training job or
// alone.
#pragma once

#include "actors/agents.hpp"
#include "actors/inquiry.hpp"

#include <caf/fwd.hpp>

namespace troupe {

class sub_plan {
 public:
  sub_plan() = default;
  /// Starts nothing yet. `driver` outlives this object.
  sub_plan(caf::local_actor& driver, driven_nodes of);

  /// Begins an attempt: asks for the nodes that are missing, which report to `driver` and which it monitors.
  void start(int32_t attempt);
  /// Returns true once all nodes of the newest attempt have been started and connected.
  bool on(const started& x);
  bool awaits_nodes() const { return agents_.awaited(); }
  std::string agents_awaited() const { return agents_.names_of_awaited(); }
  /// Begins the attempt at the beginning of the data.
  void begin_attempt() const;
  void grant(int64_t until) const;
  /// Whether the address is that of a node or an agent.
  bool has(const caf::actor_addr& node) const { return nodes_.find(node) != nullptr || !agents_.name_of(node).empty(); }
  /// Asks each node how far it is. `driver` gets the answers, each with one of these names.
  void ask(uint64_t number) const;
  std::vector<std::string> names() const;
  /// Asks the nodes in their turn, as a report of the driver's own driver wants it, and returns whom. A node that still
  /// owes an answer is not asked again.
  std::vector<std::string> ask_on(uint64_t number, standing_sink_actor asker);
  /// Passes an answer on, if it is one to that question.
  void pass_on(const standing& x);
  /// Tells the replicas of the attempt to stop. From their answers on they read the store no more.
  void halt();
  void on(const halted& x);
  bool halts() const { return !halting_.empty(); }  ///< Whether an answer is on its way.
  /// The name of a replica that was ended before it had stopped: it reads the store until it is gone. Empty if there is
  /// none.
  std::string straggler() const { return stragglers_.empty() ? "" : stragglers_.begin()->second; }
  /// Returns true if that was the end of a straggler.
  bool straggler_ended(const caf::actor_addr& node) { return stragglers_.erase(node) > 0; }
  /// A node or an agent has ended by itself.
  void lost(const caf::actor_addr& node);
  /// Ends the nodes; a later `start` starts new ones.
  void end_nodes();

 private:
  template <role R, class M>
  void tell_all(const M& message) const;

  caf::local_actor* driver_ = nullptr;
  driven_nodes of_;
  agents agents_;
  roster nodes_;
  int32_t attempt_ = 0;
  std::set<node_id> halting_;
  std::map<caf::actor_addr, std::string> stragglers_;
  inquiry reporting_{1};
  uint64_t report_ = 0;  ///< The number of that report.
  standing_sink_actor report_to_;
};

}  // namespace troupe
