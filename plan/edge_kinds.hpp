// What flows between nodes: the kinds of edge of a plan, as a table. A new kind is one row, and one case where its ends
// are connected.
#pragma once

#include "words/roles.hpp"

namespace troupe {

enum class edge_kind : uint8_t {
  data,      ///< Batches, and outputs of one group for another, from an out-port to an in-port.
  report,    ///< The results of a replica's steps.
  gradient,  ///< The gradient of one replica, for the sum over its group.
  part,      ///< A node's part of a snapshot; the chief's passes through the summary writer, if there is one.
  record,    ///< The summary values of a step, for the event file.
  call,      ///< The tensors of a replica's steps for host calls.
};

/// Limits on the messages that are on their way along an edge or held by its reader. Absent: no code enforces a limit.
struct edge_credit {
  std::optional<int64_t> messages = {};
  /// Of one message that holds more than one batch; for calls, of all messages together, if there is more than one.
  std::optional<int64_t> bytes = {};
  friend bool operator==(const edge_credit&, const edge_credit&) = default;
};

struct edge_row {
  edge_kind what;
  std::string_view name;
  std::string_view message;   ///< The message that carries it.
  role_set from, to;          ///< The roles at its ends.
  bool within_group = false;  ///< Both ends belong to one group.
  bool own_credit = false;    ///< An edge may have a credit other than its row's.
  edge_credit credit = {};
  std::string_view held_by;  ///< The message or actor that enforces the credit.
};

/// In the order of the enumerators.
std::span<const edge_row> edge_rows() noexcept;
const edge_row& row_of(edge_kind k) noexcept;
std::string_view to_string(edge_kind k) noexcept;

/// Saves in progress at one time, each with one part from every node that makes one. The last state of a job may add
/// one more.
inline constexpr int64_t saves_in_progress_max = 8;
/// Records for which a summary writer has room.
inline constexpr int64_t initial_record_credit = 10;

}  // namespace troupe
