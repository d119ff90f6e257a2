// The crew: how the chief and the evaluator get their actors. Only the launcher spawns; this is what it hands them.
#pragma once

#include "actors/steps/replica.hpp"
#include "messages/interfaces.hpp"

namespace troupe {

/// Starts, restarts and ends the nodes of one plan. Called from the one actor that owns it; nothing here blocks.
/// A handle is null where the plan has no such node.
class crew {
 public:
  virtual ~crew() = default;

  virtual int32_t infeeds() const = 0;
  virtual int32_t replicas() const = 0;
  /// The edges that infeed `index` feeds, and the replica at the end of each.
  virtual std::vector<std::pair<int32_t, int32_t>> edges_of(int32_t index) const = 0;

  virtual infeed_actor start_infeed(int32_t index, part_sink_actor parts, input_listener_actor listener) = 0;
  virtual replica_actor start_replica(int32_t index, const replica_peers& peers) = 0;
  virtual reducer_actor start_reducer() = 0;
  virtual outfeed_actor start_outfeed(progress_sink_actor sink, summary_writer_actor writer) = 0;
  /// Of the job's own directory, or of the one of its evaluations.
  virtual summary_writer_actor start_summary_writer(bool of_evaluations, chief_actor chief) = 0;
  virtual checkpoint_writer_actor start_checkpoint_writer(chief_actor chief) = 0;
  virtual evaluator_actor start_evaluator(chief_actor chief) = 0;
  virtual callbacks_actor start_callbacks(chief_actor chief) = 0;

  /// Frees whoever is inside a long step or a blocking read of this crew, from outside: they end soon after.
  virtual void cancel() = 0;
  /// Frees those in a blocking read alone.
  virtual void cancel_reads() = 0;
};

}  // namespace troupe
