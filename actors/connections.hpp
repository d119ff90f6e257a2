// How nodes get to know their neighbours: their driver sends them one another's handles, along the edges of the plan.
// It does so before `begin`: messages of one sender arrive in order, and a node that began with an old neighbour would
// lose parts and gradients without an error.
#pragma once

#include "actors/roster.hpp"
#include "plan/checked_plan.hpp"

#include <caf/fwd.hpp>

#include <set>

namespace troupe {

/// The nodes of one driver, and the plan with their edges. Used on the driver's thread.
struct neighbourhood {
  caf::local_actor& driver;
  const checked_plan& plan;
  const roster& nodes;

  /// Connects the nodes in `started`, each with the living nodes at the other ends of its edges.
  void connect(const std::set<node_id>& started) const;
  /// Each group in `leaving` has left at a step: tells the nodes at the other ends of its edges that nothing flows
  /// there from that batch on. Nodes of groups in `gone`, which have all left by then, are not told.
  void leave(const std::map<group_id, int64_t>& leaving, const std::set<group_id>& gone, int32_t attempt) const;

 private:
  void connect(const plan_edge& e) const;
  template <class M>
  void tell(const caf::strong_actor_ptr& node, M message) const;
};

}  // namespace troupe
