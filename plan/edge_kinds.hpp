// What flows between nodes: the kinds of edge of a plan. A table, so that a kind that is added is one row, and one case where its ends are connected.
#pragma once

#include "words/roles.hpp"

namespace troupe {

enum class edge_kind : uint8_t {
  data,      ///< Batches, and outputs of one group for another, from an out-port to an in-port.
  report,    ///< What a replica's steps came to.
  gradient,  ///< The gradient of one replica, for the sum over its group.
  part,      ///< A node's part of a snapshot; the chief's goes by way of the summary writer, where there is one.
  record,    ///< What a step is to leave in the event file.
};

/// Limits on what is on its way along an edge, or held by its reader. Absent: no code holds the sender to one.
struct edge_credit {
  std::optional<int64_t> messages = {};
  std::optional<int64_t> bytes = {};  ///< Of one message of more than one batch.
  friend bool operator==(const edge_credit&, const edge_credit&) = default;
};

struct edge_row {
  edge_kind what;
  std::string_view name;
  std::string_view message;  ///< The message that carries it.
  role_set from, to;         ///< The roles at its ends.
  bool within_group = false; ///< Both ends are of one group.
  bool own_credit = false;   ///< An edge may have another credit than its row.
  edge_credit credit = {};
  std::string_view held_by;  ///< Who holds the sender to it.
};

/// In the order of the enumerators.
std::span<const edge_row> edge_rows() noexcept;
const edge_row& row_of(edge_kind k) noexcept;
std::string_view to_string(edge_kind k) noexcept;

/// Saves that are in progress at a time, each with one part of every node; the last state of a job may be one more.
inline constexpr int64_t saves_in_progress_max = 8;
/// Records for which a summary writer has room.
inline constexpr int64_t record_window = 10;

}  // namespace troupe
