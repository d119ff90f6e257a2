// The numbers of a job's nodes, edges and groups, and the table that says what each kind of node is. Names are for
// people: no code reads them.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace troupe {

/// Each kind of number counts from 0 within a plan.
enum class node_id : int32_t {};
enum class edge_id : int32_t {};
/// A model with its parameter store, its optimizer and its replicas.
enum class group_id : int32_t {};

/// No node: the launcher itself is the driver.
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
  summary_writer,       ///< Of what training records.
  eval_summary_writer,  ///< Of what evaluations find.
  evaluator,
  predictor,
  callbacks,
  chief,
  checkpoint_watcher,  ///< Looks at a model directory for what other processes do there.
};

/// The ways in which a node can fail.
enum class trouble : uint8_t {
  dies,    ///< Its actor ended by itself.
  hangs,   ///< It did not answer within its deadline.
  throws,  ///< It sent an error and cannot go on.
};
std::string_view to_string(trouble t) noexcept;

/// The response of a chief to trouble while it trains or drains.
enum class response : uint8_t {
  save_and_fail,     ///< The model is healthy: its state at the horizon is saved, then the job fails.
  replace_and_fail,  ///< A new checkpoint writer is started once and makes the last save, then the job fails.
  settle_and_fail,   ///< No later step can be made: saves that can still be completed are awaited, then the job fails.
  recover_or_fail,   ///< As settle_and_fail; then, where recovery.hpp allows it, a new attempt at the newest commit.
  by_policy,         ///< As on_evaluator_failure says: a warning, or save_and_fail.
};
std::string_view to_string(response r) noexcept;

/// Whether each row of a table has the index of its enumerator.
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

/// What a kind of node is, as a table. A new role is one row, and one case where its actor is started.
struct role_row {
  role what;
  std::string_view name;            ///< Both summary writers have the name "summary_writer".
  role_set drivers;                 ///< The roles that may drive it.
  bool has_thread = true;           ///< It may block, so it runs on its own thread.
  uint8_t starts = 0;               ///< Position in the order of starting: after those to which it sends at its start.
  uint8_t ends = 0;                 ///< Position in the order of ending; `by_itself`: ends once its files are closed.
  bool is_halted = false;           ///< Stops when an attempt fails; if it has ended, the next attempt starts it anew.
  bool in_group = false;            ///< It belongs to one group, and leaves with it.
  bool makes_part = false;          ///< It makes a part of each snapshot.
  bool outlives_iteration = false;  ///< A chief, or a node of a chief, that stays the same actor over growth.
  /// The responses of a chief; none: the trouble cannot occur, or is handled elsewhere.
  std::optional<response> dies = {}, hangs = {}, throws = {};

  static constexpr uint8_t by_itself = 0;
  std::optional<response> to(trouble t) const noexcept;
  /// Whether it writes event files: its last work comes after the last step.
  bool is_log() const noexcept { return ends == by_itself; }
};

/// In the order of the enumerators. docs/actors.md shows the responses; a test compares the two.
std::span<const role_row> role_rows() noexcept;
const role_row& row_of(role r) noexcept;
/// All roles in the order of starting; and the roles that a chief ends, in the order of ending.
std::span<const role> starting_order() noexcept;
std::span<const role> ending_order() noexcept;
std::string_view to_string(role r) noexcept;

}  // namespace troupe
