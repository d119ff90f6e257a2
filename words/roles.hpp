// Who is who in a job, by number: nodes, edges and groups of a plan; and the table of what each kind of node is. Names are for people; nothing reads
// one.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace troupe {

/// Each counts from 0 within its plan.
enum class node_id : int32_t {};
enum class edge_id : int32_t {};
/// A model with its parameter store, its optimizer and its replicas.
enum class group_id : int32_t {};

/// Nobody: whose driver is the launcher itself.
inline constexpr node_id no_node{-1};

template <class Id>
constexpr size_t index_of(Id id) noexcept {
  return static_cast<size_t>(id);
}

enum class role : uint8_t {
  infeed,
  replica,
  reducer,
  outfeed,
  checkpoint_writer,
  summary_writer,       ///< Of what is recorded while training.
  eval_summary_writer,  ///< Of what evaluations found.
  evaluator,
  predictor,
  callbacks,
  chief,
};

/// The ways in which a node can fail.
enum class trouble : uint8_t {
  dies,    ///< Its actor ended by itself.
  hangs,   ///< It did not answer within its deadline.
  throws,  ///< It sent an error and cannot go on.
};
std::string_view to_string(trouble t) noexcept;

/// The response of a chief that trains or drains.
enum class response : uint8_t {
  save_and_fail,     ///< The model is healthy: its state at the horizon is saved, then the job fails.
  replace_and_fail,  ///< A new checkpoint writer makes the last save, once; then the job fails.
  settle_and_fail,   ///< No later step can be made: saves that can still be completed are awaited, then the job fails.
  recover_or_fail,   ///< The same; then, where recovery.hpp allows it, a new attempt begins at the newest commit.
  by_policy,         ///< on_evaluator_failure: a warning, or save_and_fail.
};
std::string_view to_string(response r) noexcept;

/// Whether each row of a table stands at the place of its enumerator.
template <class Rows>
constexpr bool are_in_order(const Rows& rows) {
  for (size_t i = 0; i < rows.size(); ++i)
    if (static_cast<size_t>(rows[i].what) != i)
      return false;
  return true;
}

/// One bit for each role, and one for the launcher.
using role_set = uint16_t;
inline constexpr role_set launcher_alone = 1u << 15;
template <class... Roles>
constexpr role_set set_of(Roles... all) noexcept {
  return static_cast<role_set>((0u | ... | (1u << static_cast<unsigned>(all))));
}
constexpr bool contains(role_set all, role r) noexcept { return (all & set_of(r)) != 0; }

/// What a kind of node is. A table, so that a role that is added is one row, and one case where its actor is started.
struct role_row {
  role what;
  std::string_view name;         ///< "summary_writer" of either kind: a directory is no role.
  role_set drivers;              ///< Who may drive it.
  bool has_thread = true;        ///< It may block, so that it runs on a thread of its own.
  uint8_t starts = 0;            ///< Its place in the order of starting: after those to which it sends at its start.
  uint8_t ends = 0;              ///< Its place in the order in which a driver ends its nodes; `by_itself`: it ends once its files are closed.
  bool is_halted = false;        ///< It stops where an attempt fails, and is started anew for the next one if it has ended.
  bool in_group = false;         ///< It is of one group, and leaves with it.
  bool makes_part = false;       ///< A snapshot has a part of it.
  bool outlives_iteration = false;  ///< Of a chief or a chief itself: where one plan grows into the next, it stays the same actor.
  /// The responses of a chief; none: it cannot happen, or is answered otherwise.
  std::optional<response> dies = {}, hangs = {}, throws = {};

  static constexpr uint8_t by_itself = 0;
  std::optional<response> to(trouble t) const noexcept;
  /// Writes event files: its last work follows the last step.
  bool is_log() const noexcept { return ends == by_itself; }
};

/// In the order of the enumerators. docs/actors.md shows the responses; a test compares the two.
std::span<const role_row> role_rows() noexcept;
const role_row& row_of(role r) noexcept;
/// All roles, in the order in which their nodes are started, and of those that a chief ends, in that order.
std::span<const role> starting_order() noexcept;
std::span<const role> ending_order() noexcept;
std::string_view to_string(role r) noexcept;

}  // namespace troupe
