// The crew: the interface through which a chief, an evaluator or a predictor starts and ends its nodes. The launcher
// implements it, as only the launcher spawns actors.
#pragma once

#include "actors/roster.hpp"

#include <map>

namespace troupe {

/// Starts and ends the nodes of one driver. Called by that driver; no function blocks.
class crew {
 public:
  virtual ~crew() = default;

  /// The nodes, none of them started, in the order in which they have to be started.
  virtual std::vector<member> members() const = 0;
  /// Starts a node, which reports to `driver`, or replaces a node that has ended, with an engine of its own. Only nodes that
  /// are started later know it before `connect`.
  virtual caf::strong_actor_ptr start(node_id id, const caf::strong_actor_ptr& driver) = 0;
  /// Sends handles between a node and the started nodes with which it shares an edge or to which it sends parts.
  virtual void connect(node_id id) = 0;
  /// Groups have left, each at a step: tells the nodes at the other ends of their edges that nothing flows there from that batch on, but for those
  /// of groups that have left as well.
  virtual void remove(const std::map<group_id, int64_t>& leaving, int32_t attempt) = 0;
  /// Ends a node, if it was started.
  virtual void end(node_id id) = 0;

  /// Interrupts the nodes that are inside a long step or a blocking read, those of an evaluator as well.
  virtual void cancel() = 0;
  /// The same for the nodes of this driver alone.
  virtual void cancel_steps() = 0;
  /// Steps and reads may be made again. No node is inside one; each takes notice of it at its next `begin`.
  virtual void begin_attempt() = 0;
  /// Interrupts blocking reads only.
  virtual void cancel_reads() = 0;
};

/// Starts and connects all nodes of the crew. `driver` monitors them.
roster start_all(crew& nodes, caf::local_actor& driver);

}  // namespace troupe
