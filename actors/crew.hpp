// The crew: the interface through which a chief, an evaluator or a predictor starts and ends its nodes. The launcher
// implements it, as only the launcher spawns actors.
#pragma once

#include "actors/connections.hpp"

namespace troupe {

/// Starts and ends the nodes of one driver. Called by that driver; no function blocks.
class crew {
 public:
  virtual ~crew() = default;

  /// The nodes, none of them started, in the order in which they have to be started.
  virtual std::vector<member> members() const = 0;
  /// The plan that has their edges.
  virtual const checked_plan& plan() const = 0;
  /// Starts a node, which reports to `driver`, or replaces a node that has ended, with an engine of its own. It knows no other node before its driver
  /// connects it.
  virtual caf::strong_actor_ptr start(node_id id, const caf::strong_actor_ptr& driver) = 0;
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
