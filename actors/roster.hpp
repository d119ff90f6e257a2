// The roster: the nodes of one driver by number, role and group, and which of them are alive.
#pragma once

#include "messages/interfaces.hpp"
#include "words/roles.hpp"

#include <unordered_map>
#include <vector>

namespace troupe {

/// The type of the handle of each role's nodes.
template <role>
struct handle_of;
template <>
struct handle_of<role::infeed> {
  using type = infeed_actor;
};
template <>
struct handle_of<role::replica> {
  using type = replica_actor;
};
template <>
struct handle_of<role::reducer> {
  using type = reducer_actor;
};
template <>
struct handle_of<role::outfeed> {
  using type = outfeed_actor;
};
template <>
struct handle_of<role::checkpoint_writer> {
  using type = checkpoint_writer_actor;
};
template <>
struct handle_of<role::summary_writer> {
  using type = summary_writer_actor;
};
template <>
struct handle_of<role::eval_summary_writer> {
  using type = summary_writer_actor;
};
template <>
struct handle_of<role::evaluator> {
  using type = evaluator_actor;
};
template <>
struct handle_of<role::predictor> {
  using type = predictor_actor;
};
template <>
struct handle_of<role::callbacks> {
  using type = callbacks_actor;
};
template <>
struct handle_of<role::checkpoint_watcher> {
  using type = checkpoint_watcher_actor;
};

struct member {
  node_id id{};
  role what = role::infeed;
  group_id group{};
  std::string name;
  caf::strong_actor_ptr handle = {};  ///< Null before the node is started and after it has ended.
};

/// The members are in the order of starting. Used by one thread at a time.
class roster {
 public:
  roster() = default;
  explicit roster(std::vector<member> members);

  const std::vector<member>& members() const noexcept { return members_; }
  bool empty() const noexcept { return members_.empty(); }
  bool any_alive() const;

  void started(node_id id, caf::strong_actor_ptr handle);
  /// The living member with that address; null for an unknown address or a member that has ended.
  const member* find(const caf::actor_addr& address) const;
  void ended(node_id id);
  /// The member with that number, alive or not; null for an unknown one.
  const member* find(node_id id) const;

  /// The number of the only member of that role, alive or not; `no_node` if there is none.
  node_id id_of(role what) const;
  /// The number of members of that role, alive or not.
  size_t count(role what) const;
  /// The names of the members of that role, in order, alive or not.
  std::vector<std::string> names(role what) const;
  /// The members of that role that are alive.
  template <role R>
  std::vector<typename handle_of<R>::type> all() const {
    std::vector<typename handle_of<R>::type> found;
    for (const auto& m : members_)
      if (m.what == R && m.handle)
        found.push_back(caf::actor_cast<typename handle_of<R>::type>(m.handle));
    return found;
  }
  /// The index of a member among those of its role, alive or not.
  size_t place_of(node_id id) const;
  /// The n-th member of that role, alive or not; null if there are fewer.
  const member* nth(role what, size_t n) const;
  /// The handle of the n-th member of that role; null if there are fewer or if it has ended.
  template <role R>
  typename handle_of<R>::type nth(size_t n) const {
    const auto* m = nth(R, n);
    return m && m->handle ? caf::actor_cast<typename handle_of<R>::type>(m->handle) : typename handle_of<R>::type{};
  }
  /// The handle of the only member of that role; null if there is none or if it has ended.
  template <role R>
  typename handle_of<R>::type the() const {
    for (const auto& m : members_)
      if (m.what == R && m.handle)
        return caf::actor_cast<typename handle_of<R>::type>(m.handle);
    return {};
  }

 private:
  std::vector<member> members_;
  std::unordered_map<node_id, size_t> places_;  ///< Indices into `members_`.
};

}  // namespace troupe
