// The state that an attempt begins with, cut into the parts in which it is sent to the owners of the parameter stores: plain
// data, tested without actors.
#pragma once

#include "actors/writers/checkpoint_loading.hpp"
#include "messages/snapshot.hpp"
#include "storage/checkpoints/checkpoint_reader.hpp"

#include <deque>

namespace troupe {

class state_parts {
 public:
  /// Bytes of elements in one part. A part that is written keeps its owner from other messages for a few milliseconds at most.
  static constexpr int64_t bytes_max = int64_t{16} << 20;

  state_parts() = default;
  /// The tensors that the groups have a place for. Parts share the tensors' memory, which is given back as they are dropped.
  /// `part_bytes` has room for an element.
  state_parts(stored_groups groups, std::vector<named_tensor> tensors, int64_t part_bytes = bytes_max);
  /// Initial values: one part for each group, and then the tensors that take the place of some of them.
  state_parts(stored_groups groups, uint64_t seed, std::vector<named_tensor> tensors = {}, int64_t part_bytes = bytes_max);
  /// The same of a checkpoint, which is read as parts are asked for.
  state_parts(stored_groups groups, std::unique_ptr<checkpoint_reader> from, int64_t part_bytes = bytes_max);

  /// The same of the state that an iteration grows from: initial values of all groups, and over them what goes on.
  state_parts(stored_groups groups, std::unique_ptr<checkpoint_reader> from, const stored_growth& growth, uint64_t seed, int64_t part_bytes = bytes_max);

  struct addressed {
    group_id to{};
    state_part part;  ///< Its attempt and number are the sender's.
  };
  /// The next part; nothing when there is none left. Initial values come first. The errors of the reader: parts that were given out are of
  /// no use then.
  expected<std::optional<addressed>> next();

 private:
  struct whole {
    group_id group{};
    bool trainable = false;
    named_tensor tensor;
  };
  /// A run of elements of one tensor, for its group.
  struct run {
    group_id to{};
    variable_piece piece;
  };
  expected<std::optional<run>> next_run(int64_t bytes);
  expected<std::optional<run>> read_run(int64_t bytes);

  std::deque<whole> left_;           ///< Tensors of which a run is not yet sent,
  int64_t first_ = 0;                ///< the first one from this element on.
  std::unique_ptr<checkpoint_reader> reader_;    ///< Or the checkpoint that is read,
  std::vector<std::vector<run>> places_ = {};    ///< and where each of its tensors goes, as runs without elements.
  std::deque<run> held_;             ///< They are for other groups than the part that they were asked for, or of one tensor for several places.
  int64_t part_bytes_ = bytes_max;
  uint64_t seed_ = 0;
  std::deque<group_id> initial_;     ///< Groups that get initial values.
};

}  // namespace troupe
