// The interface between a replica and the arithmetic: one step in two halves, with the reduction between them.
//
// A replica owns one engine and calls it from its own thread. Arenas are numbered 0 and 1 (parameter_store.hpp).
#pragma once

#include <troupe/dataset.hpp>

#include "compute/engine/metric_totals.hpp"
#include "compute/engine/observed_values.hpp"
#include "compute/engine/summaries.hpp"
#include "compute/graph/model_graph.hpp"
#include "compute/program/program.hpp"

namespace troupe {

/// Consecutive elements of one variable or slot, in the parameter store's own memory.
struct stored_piece {
  std::string name;
  shape dims;           ///< Shape of the whole variable.
  int64_t first = 0;
  bool trainable = false;
  tensor elements;      ///< Rank 1; shares the store's memory.
};

/// Feeds of one batch: one pointer for each component, to `rows` rows.
struct batch_feeds {
  std::span<const std::byte* const> components;
  int64_t rows = 0;
  bool record = false;  ///< Train: `recorded` will be asked for this step.
  bool observe = false; ///< Train: `observed` will be asked for this step.
  bool measure = false; ///< Train: this step counts for `take_measured`.
  std::span<std::byte* const> exposed = {};  ///< Train: where `rows` rows of each component of `step_engine::exposed` go.
};

class step_engine {
 public:
  virtual ~step_engine() = default;

  /// The components that it is fed, in order; shapes without the batch axis.
  virtual std::span<const component> inputs() const = 0;
  virtual std::span<const program_output> outputs() const = 0;
  /// Train: the components that `gradients` writes for other groups, in order; shapes without the batch axis.
  virtual std::span<const component> exposed() const = 0;

  /// Train: the gradient of this replica's shards, added up by a fixed pairwise tree, reading `arena`.
  virtual step_status gradients(int64_t step, const batch_feeds& in, int arena) = 0;
  /// Train: the loss and what is exposed alone, to the bits of `gradients`, for a replica that applies nothing any more. There is no
  /// gradient then, and nothing is recorded or observed.
  virtual step_status expose(int64_t step, const batch_feeds& in, int arena) = 0;
  /// The result of the last `gradients`; shares the engine's memory, which the next call overwrites.
  virtual tensor gradient() const = 0;
  /// Train: this replica's slice of the update, from one arena to another or in place. `sum` is over all replicas.
  virtual void apply(int64_t step, const tensor& sum, int from, int to) = 0;
  /// Train: the learning rate of every rule is multiplied by `factor` in each later `apply`; 1 at first. Weight decay that goes by the rate
  /// follows it.
  virtual void scale_rate(double factor) { static_cast<void>(factor); }
  /// Evaluate, predict: computes the outputs.
  virtual step_status evaluate(int64_t step, const batch_feeds& in, int arena) = 0;

  /// The last step's mean loss over this replica's shards.
  virtual double loss() const = 0;
  /// Copies of the outputs of the last step (of its last shard while training: `show_mean_loss`).
  virtual std::vector<tensor> values() const = 0;
  /// What becomes of the tensors that `recorded` returns, each of which names its recipe.
  virtual summary_recipes summaries() const = 0;
  /// Copies of the summary tensors of the last `gradients`, which must have been told to record: one set for each shard
  /// of this replica. Replica 0's first set continues with the trainable variables in `arena`.
  virtual recorded_sets recorded(int arena) const = 0;
  /// Describes what `observed` returns, in order.
  virtual std::vector<observable> observables() const { return {}; }
  /// The functions of the metrics whose sums are among the outputs, or while training are `measured`, by their index.
  virtual metric_functions metrics() const { return {}; }
  /// Train: the sums of metrics that `take_measured` returns, in order; none unless the engine was made to measure.
  virtual std::vector<program_output> measured() const { return {}; }
  /// Train: the totals, in float64, over all shards of this replica and the steps since the last call that were told to measure, whether they
  /// were applied or not; empty without such a step.
  virtual std::vector<tensor> take_measured() { return {}; }
  /// Copies of the observed values of the last `gradients`, which must have been told to observe: one set for each shard of this
  /// replica (`join_observed`).
  virtual std::vector<std::vector<tensor>> observed() const { return {}; }
  /// The error that the status `bad_input` stands for.
  virtual error last_error() const = 0;

  /// Computes a step again that was not finite, from `arena`, which still holds the state before it, and returns the
  /// origin of the bad value; nothing when all values are finite. Overwrites the gradient. The row of a fed component
  /// counts within `in`.
  virtual std::optional<numeric_fault> find_fault(int64_t step, const batch_feeds& in, int arena) = 0;
  /// Whether every element of a reduced gradient is finite.
  virtual bool finite(const tensor& sum) const = 0;
  /// This replica's slice of an arena, slots included, not copied.
  virtual std::vector<stored_piece> pieces(int arena) const = 0;
  /// The number of arenas: 1 or 2.
  virtual int arenas() const = 0;

  /// Gives every variable and slot of the group its initial value, in arena 0. Here as in `assign`, no replica of the group is
  /// in a step.
  virtual void initialise(uint64_t seed) = 0;
  /// Writes a run of elements of one variable or slot of the group, in arena 0; `elements` is of rank 1. not_found,
  /// invalid_argument.
  virtual expected<void> assign(const std::string& name, int64_t first, const tensor& elements) = 0;
};

/// Replaces one shard's outputs by those of the whole step, which do not depend on the division into shards: "loss"
/// becomes `loss`, the mean over all shards of all replicas. In training there is no other output. `values` may be
/// empty.
void show_mean_loss(std::span<const program_output> outputs, double loss, std::vector<tensor>& values);

/// The threads that compute each step of a replica, the caller's included.
struct shared_threads {
  int32_t most = 1;
  bool as_pays = false;                       ///< Fewer where a step is too short for more to pay, which its plan alone decides; one where the
                                              ///<   system gives no more.
};

struct program_engine_options {
  std::shared_ptr<const model_graph> graph;   ///< Shared by all engines of a program; planned once per binding of the batch (at most 8 are kept).
  std::vector<component> delivered;           ///< Components of a batch, in order; they include the graph's inputs.
  std::shared_ptr<parameter_store> store;
  int32_t replica = 0;
  int32_t replicas = 1;
  int32_t shards = 1;                         ///< S, a multiple of `replicas`.
  int64_t batch_rows = 1;                     ///< Rows of this replica's full batch; planned at once.
  uint64_t seed = 0;
  shared_threads threads = {};
  bool recompute = false;                     ///< As program_options.
  measuring measure = measuring::never;       ///< As program_options.
  std::vector<std::string> expose = {};       ///< As program_options.
  std::shared_ptr<std::atomic<bool>> cancel;  ///< Shared with the agent: ends a long step.
};
/// Plans the graph for `batch_rows` rows. invalid_argument as `program::plan`; key_missing for an input that is not delivered.
expected<std::unique_ptr<step_engine>> make_program_engine(program_engine_options options);

/// The layout of a model's training graph: its variables and its optimizer's slots. For another mode: the variables
/// only, which are loaded from moving averages where the optimizer of the spec keeps them.
expected<parameter_layout> layout_of(const model_graph& built);

}  // namespace troupe
