// The interface between a replica and the arithmetic: one step in two halves, with the reduction between them.
//
// A replica owns one engine and calls it from its own thread. Arenas are numbered 0 and 1 (parameter_store.hpp).
#pragma once

#include "compute/engine/host_calls.hpp"
#include "compute/engine/metric_totals.hpp"
#include "compute/engine/observed_values.hpp"
#include "compute/engine/summaries.hpp"
#include "compute/graph/model_graph.hpp"
#include "compute/program/program.hpp"

#include <troupe/dataset.hpp>

namespace troupe {

/// Consecutive elements of one variable or slot, in the parameter store's own memory.
struct stored_piece {
  std::string name;
  shape dims;  ///< Shape of the whole variable.
  int64_t first = 0;
  bool trainable = false;
  tensor elements;       ///< Rank 1; shares the store's memory.
  bool carried = false;  ///< Rows of a carried state.
};

/// The values of those variables that are whole in these pieces, by name, as doubles. They have one element, of
/// float32, float64, int32 or int64; others are passed over.
std::map<std::string, double> values_in(std::span<const stored_piece> pieces, const std::vector<std::string>& names);

/// The feeds of one batch: for each component, a pointer to `rows` rows.
struct batch_feeds {
  std::span<const std::byte* const> components;
  int64_t rows = 0;
  bool record = false;   ///< Train: `recorded` will be called for this step.
  bool observe = false;  ///< Train: `observed` will be called for this step.
  bool measure = false;  ///< Train: this step counts for `take_measured`.
  /// Train: the destination for `rows` rows of each component of `step_engine::exposed`.
  std::span<std::byte* const> exposed = {};
  call_set calls = 0;        ///< `take_called` will be called for this step: the host calls that are due.
  bool begins_run = false;   ///< Every carried state is its initial value.
  bool begins_loop = false;  ///< Those that last a loop are.
};

class step_engine {
 public:
  virtual ~step_engine() = default;

  /// The components of a batch that the engine reads, in order; shapes without the batch axis.
  virtual std::span<const component> inputs() const = 0;
  virtual std::span<const program_output> outputs() const = 0;
  /// Train: the components that `gradients` writes for other groups, in order; shapes without the batch axis.
  virtual std::span<const component> exposed() const = 0;

  /// Train: computes the gradient of this replica's shards, summed by a fixed pairwise tree, from the variables in
  /// `arena`.
  virtual step_status gradients(int64_t step, const batch_feeds& in, int arena) = 0;
  /// Train: computes only the loss and the exposed components, with the bits of `gradients`, for a replica of a retired
  /// group. There is no gradient afterwards, and nothing is recorded or observed.
  virtual step_status expose(int64_t step, const batch_feeds& in, int arena) = 0;
  /// The result of the last `gradients`. It shares the engine's memory, which the next call overwrites.
  virtual tensor gradient() const = 0;
  /// Train: how many sums of squares clipping by norm needs; 0 without it.
  virtual int64_t norm_chunks() const { return 0; }
  /// Train: `apply` takes these sums, so many, from here on. The replicas share them: each measures its slice of a
  /// step's sum before any of them applies it. Without them each reads all slices.
  virtual void share_squares(std::span<double> squares) { static_cast<void>(squares); }
  /// Train: writes the sums of squares of this replica's slice, which must be complete.
  virtual void measure(gradient_view sum) { static_cast<void>(sum); }
  /// Train: applies this replica's slice of the update, from one arena to another or in place. `sum` is over all
  /// replicas.
  virtual void apply(int64_t step, const tensor& sum, int from, int to) = 0;
  /// Train: multiplies the learning rate of every rule by `factor` in each later `apply`; initially 1. Weight decay
  /// that is proportional to the rate is multiplied too.
  virtual void scale_rate(double factor) { static_cast<void>(factor); }
  /// The last step counts: what it has computed of the carried states is what the next step reads, in `arena`. Until
  /// then, a step that is made again reads the old rows.
  virtual void carry(int arena) { static_cast<void>(arena); }
  /// Evaluate, predict: computes the outputs.
  virtual step_status evaluate(int64_t step, const batch_feeds& in, int arena) = 0;

  /// The last step's mean loss over this replica's shards.
  virtual double loss() const = 0;
  /// Copies of the outputs of the last step; while training, of its last shard only (see `show_mean_loss`).
  virtual std::vector<tensor> values() const = 0;
  /// How the tensors that `recorded` returns become summaries. Each tensor names its recipe by index.
  virtual summary_recipes summaries() const = 0;
  /// Copies of the summary tensors of the last `gradients`, which must have had `record` set: one set for each shard of
  /// this replica. Replica 0 appends the trainable variables in `arena` to its first set.
  virtual recorded_sets recorded(int arena) const = 0;
  /// Describes what `observed` returns, in order.
  virtual std::vector<observable> observables() const { return {}; }
  /// By index: the functions of the metrics whose sums are among the outputs or, while training, in `measured`.
  virtual metric_functions metrics() const { return {}; }
  /// Train: describes the metric sums that `take_measured` returns, in order; empty unless the engine was made to
  /// measure.
  virtual std::vector<program_output> measured() const { return {}; }
  /// Train: the float64 totals over all shards of this replica and all steps with `measure` set since the last call,
  /// whether they were applied or not; empty without such a step.
  virtual std::vector<tensor> take_measured() { return {}; }
  /// Copies of the observed values of the last `gradients`, which must have had `observe` set: one set for each shard
  /// of this replica (see `join_observed`).
  virtual std::vector<std::vector<tensor>> observed() const { return {}; }
  /// The host calls of the model in this mode.
  virtual const host_call_forms& calls() const {
    static const host_call_forms none;
    return none;
  }
  /// The tensors that the last `gradients` or `evaluate` has for the calls that were due, over all shards of this
  /// replica.
  virtual call_entry take_called() { return {}; }
  /// The error behind the last status `bad_input`.
  virtual error last_error() const = 0;

  /// Repeats a step that was not finite, from `arena`, which must still hold the state before it. Returns the origin of
  /// the bad value; nothing when all values are finite. Overwrites the gradient. The row of a fed component counts
  /// within `in`.
  virtual std::optional<numeric_fault> find_fault(int64_t step, const batch_feeds& in, int arena) = 0;
  /// Whether every element of a reduced gradient is finite.
  virtual bool finite(const tensor& sum) const = 0;
  /// This replica's slice of `arena`, slots included. Nothing is copied.
  virtual std::vector<stored_piece> pieces(int arena) const = 0;
  /// A copy of a whole variable or slot in `arena`, which nobody may write meanwhile. Errors: not_found;
  /// invalid_argument: a carried state; resource_exhausted.
  virtual expected<tensor> variable(const std::string& name, int arena) const = 0;
  /// The number of arenas: 1 or 2.
  virtual int arenas() const = 0;

  /// Sets every variable and slot of the group in arena 0 to its initial value. No replica of the group may be in a
  /// step; the same holds for `assign`.
  virtual void initialise(uint64_t seed) = 0;
  /// Writes a range of one variable or slot of the group in arena 0, from element `first` on; `elements` has rank 1.
  /// Errors: not_found, invalid_argument.
  virtual expected<void> assign(const std::string& name, int64_t first, const tensor& elements) = 0;
};

/// Replaces the loss of one shard in `values` by `loss`, the mean over all shards of all replicas, which does not
/// depend on the division into shards. In training there is no other output. `values` may be empty.
void show_mean_loss(std::span<const program_output> outputs, double loss, std::vector<tensor>& values);

/// The threads that compute each step of a replica, the caller's included.
struct shared_threads {
  int32_t most = 1;
  /// Whether to use fewer threads where a step is too short for more to pay, which only its plan decides. One thread
  /// where the system has no more.
  bool as_pays = false;
  /// The processors of the threads beside the caller's. Empty: those of the thread that plans the step.
  std::vector<int32_t> processors = {};
};

struct program_engine_options {
  /// Shared by all engines of the model. Each engine plans it once per batch size and keeps at most 8 plans.
  std::shared_ptr<const model_graph> graph;
  std::vector<component> delivered;  ///< Components of a batch, in order; they include the graph's inputs.
  std::shared_ptr<parameter_store> store;
  int32_t replica = 0;
  int32_t replicas = 1;
  int32_t shards = 1;      ///< S, a multiple of `replicas`.
  int64_t batch_rows = 1;  ///< Rows of this replica's full batch, for which the engine plans at once.
  uint64_t seed = 0;
  shared_threads threads = {};
  bool recompute = false;                ///< See `program_options`.
  measuring measure = measuring::never;  ///< See `program_options`.
  std::vector<std::string> expose = {};  ///< See `program_options`.
  /// Train: the prediction that is the loss of `expose`; empty: the spec's own loss is.
  std::string exposed_loss = {};
  /// Train: the job's step at which the group begins. Random numbers, schedules and bias corrections count from there,
  /// so that its bits do not depend on when that was; no call may name an earlier step.
  int64_t first_step = 0;
  std::shared_ptr<std::atomic<bool>> cancel;  ///< Shared with the agent. Setting it cancels a step that runs.
};
/// Plans the graph for `batch_rows` rows. invalid_argument as for `program::make`; key_missing for an input that is not
/// among the delivered components.
expected<std::unique_ptr<step_engine>> make_program_engine(program_engine_options options);

/// The layout of a model's training graph: its variables, its optimizer's slots, and its carried states for batches of
/// `rows` rows over all replicas (0: without states). For another mode: the variables only, which are loaded from their
/// moving averages if the spec's optimizer keeps these; engines keep the states of an evaluation themselves.
expected<parameter_layout> layout_of(const model_graph& built, int64_t rows = 0);

}  // namespace troupe
