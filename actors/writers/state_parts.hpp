// The state at which an attempt begins, divided into the parts that are sent to the owners of the parameter stores.
// Plain data, tested without actors.
#pragma once

#include "actors/writers/checkpoint_loading.hpp"
#include "messages/snapshot.hpp"
#include "storage/checkpoints/checkpoint_reader.hpp"

#include <deque>

namespace troupe {

class state_parts {
 public:
  /// Limit on the bytes of elements in one part. Writing a part delays the owner's other messages by a few milliseconds
  /// at most.
  static constexpr int64_t bytes_max = int64_t{16} << 20;

  state_parts() = default;
  /// Parts of those tensors that the groups have entries for. They share the tensors' memory, which is freed as they
  /// are dropped. `part_bytes` has room for one element.
  state_parts(stored_groups groups, std::vector<named_tensor> tensors, int64_t part_bytes = bytes_max);
  /// Initial values: one part for each group, followed by the tensors that replace some of the values.
  state_parts(stored_groups groups, uint64_t seed, std::vector<named_tensor> tensors = {},
              int64_t part_bytes = bytes_max);
  /// Parts of a checkpoint, which is read as parts are requested.
  state_parts(stored_groups groups, std::unique_ptr<checkpoint_reader> from, int64_t part_bytes = bytes_max);

  /// Parts of the state from which an iteration grows: initial values of all groups, then the tensors that keep their
  /// values.
  state_parts(stored_groups groups, std::unique_ptr<checkpoint_reader> from, const stored_growth& growth, uint64_t seed,
              int64_t part_bytes = bytes_max);

  struct addressed {
    group_id to{};
    state_part part;  ///< The sender sets its attempt and number.
  };
  /// The next part; nothing if there is none left. Initial values come first. After an error of the reader, the parts
  /// already returned are of no use.
  expected<std::optional<addressed>> next();

 private:
  struct whole {
    group_id group{};
    bool trainable = false;
    named_tensor tensor;
  };
  /// Consecutive elements of one tensor, for its group.
  struct addressed_piece {
    group_id to{};
    variable_piece piece;
  };
  expected<std::optional<addressed_piece>> next_piece(int64_t bytes);
  expected<std::optional<addressed_piece>> read_piece(int64_t bytes);

  std::deque<whole> left_;                     ///< Tensors that are not sent completely.
  int64_t first_ = 0;                          ///< First element of the first one to send.
  std::unique_ptr<checkpoint_reader> reader_;  ///< If not null, the parts come from this checkpoint, not from `left_`.
  std::vector<std::vector<addressed_piece>> places_ = {};  ///< For each of its tensors: its places, without elements.
  /// Read ahead: for another group than the current part, or further places of the same tensor.
  std::deque<addressed_piece> held_;
  int64_t part_bytes_ = bytes_max;
  uint64_t seed_ = 0;
  std::deque<group_id> initial_;  ///< Groups that still get initial values.
};

}  // namespace troupe
