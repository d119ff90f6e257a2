// The crew: how a chief, an evaluator or a predictor gets its nodes. Only the launcher spawns; this is what it hands them.
#pragma once

#include "actors/roster.hpp"

namespace troupe {

/// Starts and ends the nodes that the plan gives to one driver. Called from that driver; nothing here blocks.
class crew {
 public:
  virtual ~crew() = default;

  /// Who they are, in the order in which they are to be started; nobody has been.
  virtual std::vector<member> members() const = 0;
  /// Starts a node, which reports to `driver`; anew, in the place of one that has ended. Nobody knows of it yet but those who are
  /// started later.
  virtual caf::strong_actor_ptr start(node_id id, const caf::strong_actor_ptr& driver) = 0;
  /// Tells a node and those with whom it has an edge, or to whom it sends parts, of one another: those of them that were started.
  virtual void connect(node_id id) = 0;
  /// Ends a node, if it was started.
  virtual void end(node_id id) = 0;

  /// Frees whoever is inside a long step or a blocking read of this crew, from outside: they end soon after.
  virtual void cancel() = 0;
  /// Frees those in a blocking read alone.
  virtual void cancel_reads() = 0;
};

/// All of its nodes, started and connected. `driver` monitors them.
roster start_all(crew& nodes, caf::local_actor& driver);

}  // namespace troupe
