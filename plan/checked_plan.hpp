// A plan that has passed all checks, with an index: code that starts, connects or restores nodes finds them and their
// edges here.
#pragma once

#include "plan/plan.hpp"

#include <map>
#include <unordered_map>

namespace troupe {

/// Owns its plan, which does not change. Movable but not copyable, because the index points into the plan. Any number
/// of threads may read it.
class checked_plan {
 public:
  using nodes = std::vector<const plan_node*>;
  using edges = std::vector<const plan_edge*>;

  checked_plan() = default;
  /// Checks `p`. Otherwise invalid_argument naming the node or edge: a repeated id, an edge to or from a missing node,
  /// a driver that cannot drive, roles that no edge of that kind joins, a port that two edges fill or that no edge
  /// fills or reads, an edge without credit or with a credit that no code enforces, a cycle, a node without a required
  /// edge, a missing program or dataset, or nodes at different places that share memory or rely on the order of one
  /// another's messages.
  static expected<checked_plan> of(job_plan p);
  checked_plan(checked_plan&&) = default;
  checked_plan& operator=(checked_plan&&) = default;

  const job_plan& data() const noexcept { return plan_; }
  const job_plan* operator->() const noexcept { return &plan_; }

  /// Null if there is none.
  const plan_node* find(node_id id) const;
  /// The first node of that role and driver; null if there is none.
  const plan_node* find(role what, node_id driver) const;
  /// Throws broken_invariant, which names the number, if the plan does not have it.
  const plan_node& at(node_id id) const;
  const plan_group& group(group_id id) const;

  /// In the order of the plan.
  const nodes& all(role what, node_id driver) const;
  const edges& edges_from(node_id id, edge_kind what = edge_kind::data) const;
  const edges& edges_to(node_id id, edge_kind what = edge_kind::data) const;
  /// The replicas of a program, by index; they differ only in their edges.
  const nodes& replicas_of(size_t program) const;
  /// The programs of the replicas that `driver` drives. If it is a chief, they are in the order in which groups are
  /// shown, else in plan order.
  std::vector<size_t> reported_by(node_id driver) const;
  /// The nodes that make a part of each snapshot; empty: nothing is saved.
  const nodes& parts() const noexcept { return parts_; }
  bool saves() const noexcept { return !parts_.empty(); }

 private:
  friend class plan_check;
  explicit checked_plan(job_plan p) : plan_(std::move(p)) {}
  void index();

  job_plan plan_;
  std::unordered_map<node_id, const plan_node*> by_id_;
  std::map<std::pair<role, node_id>, nodes> by_role_;
  std::map<std::pair<node_id, edge_kind>, edges> from_, to_;
  std::vector<nodes> replicas_;
  nodes parts_;
};

/// Whether host calls are made for a node that `driver` drives.
bool has_host_calls(const checked_plan& p, node_id driver);

/// A node whose role outlives an iteration is the same actor in both plans, so `next` must have it with the same
/// number, name, driver and place. Otherwise invalid_argument naming the node.
expected<void> check_successor(const checked_plan& now, const checked_plan& next);

}  // namespace troupe
