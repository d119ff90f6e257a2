// The seam between a replica and the arithmetic: one step in two halves, with the reduction between them.
//
// A replica owns one engine and calls it from its own thread. Arenas are numbered 0 and 1 (parameter_store.hpp).
#pragma once

#include <troupe/dataset.hpp>

#include "compute/engine/summaries.hpp"
#include "compute/graph/model_graph.hpp"
#include "compute/program/program.hpp"

namespace troupe {

/// A run of one variable or slot, over the parameter store's own memory.
struct stored_piece {
  std::string name;
  shape dims;           ///< Of the whole variable.
  int64_t first = 0;
  bool trainable = false;
  tensor elements;      ///< Rank 1.
};

/// Feeds of one batch: one pointer a component, `rows` rows each.
struct batch_feeds {
  std::span<const std::byte* const> components;
  int64_t rows = 0;
  bool record = false;  ///< Train: `recorded` will be asked for this step.
  std::span<std::byte* const> exposed = {};  ///< Train: where `rows` rows of each component of `step_engine::exposed` go.
};

class step_engine {
 public:
  virtual ~step_engine() = default;

  /// What it is fed, in order, without the batch.
  virtual std::span<const component> inputs() const = 0;
  virtual std::span<const component> outputs() const = 0;
  /// Train: what `gradients` writes for other groups to read, in order, without the batch.
  virtual std::span<const component> exposed() const = 0;

  /// Train: the gradient of this replica's shards, added up by a fixed pairwise tree, reading `arena`.
  virtual step_status gradients(int64_t step, const batch_feeds& in, int arena) = 0;
  /// The gradient of the last `gradients`; shares the engine's memory, which the next call overwrites.
  virtual tensor gradient() const = 0;
  /// Train: this replica's slice of the update, from one arena to another or in place. `sum` is over all replicas.
  virtual void apply(int64_t step, const tensor& sum, int from, int to) = 0;
  /// Evaluate, predict: the outputs.
  virtual step_status evaluate(int64_t step, const batch_feeds& in, int arena) = 0;

  /// Mean over this replica's shards, of the last step.
  virtual double loss() const = 0;
  /// Copies of the outputs of the last step (of its last shard while training: `show_mean_loss`).
  virtual std::vector<tensor> values() const = 0;
  /// What `recorded` yields, in order.
  virtual summary_recipes summaries() const = 0;
  /// Copies of what the last `gradients`, which must have been told to record, says of itself: one set a shard of this
  /// replica. Replica 0's first set goes on with the trainable variables in `arena`.
  virtual recorded_sets recorded(int arena) const = 0;
  /// What `bad_input` meant.
  virtual error last_error() const = 0;

  /// Makes a step again that was not finite, in `arena`, which holds the state before it still: what made it so. Overwrites the
  /// gradient. Nothing when all is finite. The row of a fed component is one of `in`.
  virtual std::optional<numeric_fault> find_fault(int64_t step, const batch_feeds& in, int arena) = 0;
  /// Whether every element of a reduced gradient is finite.
  virtual bool finite(const tensor& sum) const = 0;
  /// This replica's slice of an arena, slots included, without a copy.
  virtual std::vector<stored_piece> pieces(int arena) const = 0;
  /// 1 or 2.
  virtual int arenas() const = 0;
};

/// Makes one shard's outputs those of the whole step, which do not depend on who computed which shard: "loss" becomes `loss`, the
/// mean over all shards of all replicas. While training there is no other output. `values` may be empty.
void show_mean_loss(std::span<const component> outputs, double loss, std::vector<tensor>& values);

struct program_engine_options {
  std::shared_ptr<const model_graph> graph;   ///< Shared by all engines of a program; planned once per binding of the batch (at most 8 are kept).
  std::vector<component> delivered;           ///< What a step is fed, in this order; the graph's inputs are among them.
  std::shared_ptr<parameter_store> store;
  int32_t replica = 0;
  int32_t replicas = 1;
  int32_t shards = 1;                         ///< S, a multiple of `replicas`.
  int64_t batch_rows = 1;                     ///< Of this replica's full batch: planned at once.
  uint64_t seed = 0;
  int32_t intra_op_threads = 1;               ///< That share each step, the caller's among them; at least 1.
  bool recompute = false;                     ///< As program_options.
  std::vector<std::string> expose = {};       ///< As program_options.
  std::shared_ptr<std::atomic<bool>> cancel;  ///< Shared with the crew: ends a long step.
};
/// Plans the graph for `batch_rows` rows. invalid_argument as `program::plan`; key_missing for an input that is not delivered.
expected<std::unique_ptr<step_engine>> make_program_engine(program_engine_options options);

/// The layout of a model's training graph: its variables and its optimizer's slots. With a mode other than train: the
/// variables alone, to be read as moving averages where the optimizer of its spec keeps some.
expected<parameter_layout> layout_of(const model_graph& built);

}  // namespace troupe
