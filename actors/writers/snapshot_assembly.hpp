// Turns the parts of a snapshot into tensors to store: pure functions on plain data, tested without actors.
#pragma once

#include "messages/snapshot.hpp"
#include "storage/checkpoints/checkpoint_store.hpp"

namespace troupe {

/// The whole variables of a set of parts, sorted by name. Pieces that are adjacent in memory are joined without a copy.
/// If a piece is missing or doubled: invalid_argument naming the variable and the first missing element.
expected<std::vector<named_tensor>> join_pieces(std::span<const variable_piece* const> pieces);

/// nan_loss naming the first trainable variable with an element that is not finite.
expected<void> check_finite(std::span<const variable_piece* const> pieces);

/// A part that a snapshot needs.
struct expected_part {
  node_id id{};
  std::string name;
  int64_t until = INT64_MAX;  ///< Snapshots of this state and later ones lack the part: its group has left.
};
/// The names of the parts in `wanted` that state `step` needs and `have` lacks: "infeed/0, chief".
std::string missing_parts(std::span<const expected_part> wanted, int64_t step,
                          const std::map<node_id, snapshot_part>& have);

}  // namespace troupe
