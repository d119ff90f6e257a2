// Messages between drivers and agents. An agent starts, interrupts and ends the nodes of one place for their drivers, and prepares other plans.
#pragma once

#include "messages/snapshot.hpp"
#include "plan/attempt_plan.hpp"

#include <caf/actor_control_block.hpp>

namespace troupe {

/// Every attempt begins with it, also where it names nobody: steps and reads of the driver's nodes may be made again. The agent starts these nodes
/// in this order, each with an engine of its own, and ends those that it had started under their numbers. They report to the sender, and know no
/// other node before it connects them.
struct start_nodes {
  int32_t attempt = 0;
  node_id driver{};
  std::vector<named_node> nodes;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, start_nodes& x) {
  return f(caf::meta::type_name("start_nodes"), x.attempt, x.driver, x.nodes);
}

/// The answer of the agent of that place. What could not be started is the handle of an actor that ends at once, with the reason.
struct started {
  struct node {
    node_id id{};
    caf::strong_actor_ptr handle = {};
  };
  int32_t attempt = 0;
  int32_t place = 0;
  std::vector<node> nodes;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, started::node& x) {
  return f(caf::meta::type_name("started::node"), x.id, x.handle);
}
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, started& x) {
  return f(caf::meta::type_name("started"), x.attempt, x.place, x.nodes);
}

/// These nodes end. The driver, which monitors them, hears of it by their downs.
struct end_nodes {
  std::vector<named_node> nodes;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, end_nodes& x) {
  return f(caf::meta::type_name("end_nodes"), x.nodes);
}

/// Interrupts nodes of that driver, until it sends `start_nodes` again.
struct cancel {
  enum kind : uint8_t {
    reads = 1,  ///< Those that are inside a read that blocks.
    work = 2,   ///< Also those that are inside a long step.
    all = 3,    ///< Also those that its own nodes drive.
  };
  node_id driver{};
  uint8_t what = all;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, cancel& x) {
  return f(caf::meta::type_name("cancel"), x.driver, x.what);
}

/// The job goes on from these books, which want another plan: make it, and the engines and programs of the agent's place. Answered by `prepared`.
struct prepare_plan {
  int32_t attempt = 0;
  newest books;
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, prepare_plan& x) {
  return f(caf::meta::type_name("prepare_plan"), x.attempt, x.books);
}

/// Nodes that are started from now on are those of `plan`, or `cause` says why there is none. The plan goes by pointer: agents are of one process.
struct prepared {
  int32_t attempt = 0;
  int32_t place = 0;
  error cause = {};
  std::shared_ptr<const attempt_plan> plan = {};  ///< Null: there is none.
};
template <class Inspector>
typename Inspector::result_type inspect(Inspector& f, prepared& x) {
  return f(caf::meta::type_name("prepared"), x.attempt, x.place, x.cause);
}

}  // namespace troupe
