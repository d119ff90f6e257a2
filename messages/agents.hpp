// Messages between drivers and agents. An agent starts, interrupts and ends the nodes of one place for their drivers,
// and prepares other plans.
#pragma once

#include "messages/snapshot.hpp"
#include "plan/attempt_plan.hpp"

#include <caf/actor_control_block.hpp>

namespace troupe {

/// Begins an attempt, even if `nodes` is empty: the driver's nodes may make steps and reads again after a `cancel`. The
/// agent first ends nodes that it had started under the same numbers, then starts these in this order, each with an
/// engine of its own. They report to the sender, and know no other node before the sender connects them.
struct start_nodes {
  int32_t attempt = 0;
  node_id driver{};
  std::vector<named_node> nodes;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, start_nodes& x) {
  return f(caf::meta::type_name("start_nodes"), x.attempt, x.driver, x.nodes);
}

/// The agent's answer to `start_nodes`, with its place. A node that could not be started has the handle of an actor
/// that ends at once, with the reason; `warnings` are of nodes that run otherwise than was asked.
struct started {
  struct node {
    node_id id{};
    caf::strong_actor_ptr handle = {};
  };
  int32_t attempt = 0;
  int32_t place = 0;
  std::vector<node> nodes;
  std::vector<std::string> warnings = {};
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, started::node& x) {
  return f(caf::meta::type_name("started::node"), x.id, x.handle);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, started& x) {
  return f(caf::meta::type_name("started"), x.attempt, x.place, x.nodes, x.warnings);
}

/// Ends these nodes. The driver monitors them and learns of each end by its `down` message.
struct end_nodes {
  std::vector<named_node> nodes;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, end_nodes& x) {
  return f(caf::meta::type_name("end_nodes"), x.nodes);
}

/// Interrupts the nodes of `driver`, until it sends `start_nodes` again.
struct cancel {
  enum kind : uint8_t {
    reads = 1,  ///< Nodes inside a blocking read.
    work = 2,   ///< Also nodes inside a long step.
    all = 3,    ///< Also the nodes that the driver's nodes drive.
  };
  node_id driver{};
  uint8_t what = all;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, cancel& x) {
  return f(caf::meta::type_name("cancel"), x.driver, x.what);
}

/// Asks for the plan that `books` want, with the engines and programs of the agent's place. Answered by `prepared`.
struct prepare_plan {
  int32_t attempt = 0;
  newest books;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, prepare_plan& x) {
  return f(caf::meta::type_name("prepare_plan"), x.attempt, x.books);
}

/// Nodes started from here on are those of `plan`; if it is null, `cause` is the reason. The plan is sent as a pointer,
/// because all agents live in one process.
struct prepared {
  int32_t attempt = 0;
  int32_t place = 0;
  error cause = {};
  std::shared_ptr<const attempt_plan> plan = {};  ///< Null: there is no plan.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, prepared& x) {
  return f(caf::meta::type_name("prepared"), x.attempt, x.place, x.cause);
}

}  // namespace troupe
