// The tensors that the steps of one replica give to host calls.
#pragma once

#include "compute/engine/host_calls.hpp"
#include "compute/graph/model_graph.hpp"
#include "compute/program/program.hpp"
#include "words/buffer_pool.hpp"

namespace troupe {

/// Joins the tensors of the shards of a step on axis 0. Used by one thread at a time. Without host calls it does
/// nothing, and where memory has been returned it allocates none.
class called_tensors {
 public:
  /// Of the graph's host calls, with the functions of its model.
  explicit called_tensors(const model_graph& of);

  const host_call_forms& forms() const noexcept { return forms_; }
  /// What a run has to record for the calls in `due`.
  static recording_set recording_of(call_set due) noexcept { return recording_set{due} << 1; }
  static_assert(record_call(0) == 2);

  /// Before a step of `shards` runs of `p`; false if memory is short. What an earlier step has left is dropped.
  bool begin(const program& p, call_set due, int32_t shards);
  /// After the run of a shard.
  void keep(const program& p, int32_t shard);
  /// The entry of the step; empty if no call is due.
  call_entry take() { return std::exchange(entry_, {}); }

 private:
  host_call_forms forms_;
  call_set due_ = 0;
  call_entry entry_;
  std::vector<std::byte*> memory_;  ///< Of the tensors of the entry.
  buffer_pool pool_{16};
};

}  // namespace troupe
