// Graphs: what a model function builds, once for each mode. Nothing is computed while a graph is built.
// Read it to begin with.
//
//   auto w = g.variable({.name = "w", .dims = {784, 128}, .initial = tr::init::glorot_uniform()});
//   auto h = tr::relu(tr::matmul(x, w));
//
// Operations are in operations.hpp. Building never throws and never stops: a wrong shape, dtype or name becomes an
// error of the graph, with the operation, both shapes and the source line, and yields an invalid symbol, as does every
// operation on an invalid symbol. `graph::status` and the start of a job return the first error. A graph and its
// symbols are used by one thread at a time.
#pragma once

#include <troupe/initializers.hpp>

#include <functional>
#include <source_location>

namespace troupe {

/// One extent of a symbol: a number, or `coefficient` × a named unknown ("batch") that becomes known when planned.
struct extent {
  int64_t coefficient = 0;
  int32_t unknown = -1;  ///< Index among the graph's unknowns; -1: the extent is the number `coefficient`.

  extent() = default;
  extent(int64_t number) : coefficient(number) {}  // NOLINT(google-explicit-constructor): {batch, 784} should read so.
  static extent of_unknown(int32_t index, int64_t coefficient = 1) {
    extent e{coefficient};
    e.unknown = index;
    return e;
  }
  bool known() const noexcept { return unknown < 0; }
  friend bool operator==(const extent&, const extent&) = default;
};
using symbol_shape = std::vector<extent>;

class graph;
struct host_call_options;  // In host_call.hpp.
struct graph_contents;     // These two are in compute/graph/graph.hpp.
struct graph_access;

/// The value that one operation of a graph will produce. Cheap to copy; valid while its graph lives.
class TROUPE_API symbol {
 public:
  symbol() = default;
  bool valid() const noexcept { return graph_ != nullptr && node_ >= 0; }
  troupe::graph* owner() const noexcept { return graph_; }
  int32_t node() const noexcept { return node_; }
  dtype type() const;                ///< float32 for an invalid symbol.
  const symbol_shape& dims() const;  ///< Empty for an invalid symbol. Valid until the graph is destroyed or moved.
  int rank() const { return static_cast<int>(dims().size()); }

 private:
  friend class graph;
  friend struct graph_access;
  symbol(troupe::graph* owner, int32_t node) : graph_(owner), node_(node) {}
  troupe::graph* graph_ = nullptr;
  int32_t node_ = -1;
};

/// Each gradient shard gives a variable its own value (`graph::assign`): how these become the one that is stored.
enum class combine : uint8_t { mean, sum };

struct variable_options {
  std::string name = {};  ///< Unique within the current scope.
  shape dims = {};
  dtype type = dtype::float32;
  initializer initial = init::zeros();
  bool trainable = true;             ///< False: the optimizer does not update it; see `graph::assign`.
  combine replicas = combine::mean;  ///< Only for `graph::assign`.
};

/// When a carried state starts from its initial value again.
enum class lifetime : uint8_t {
  run,   ///< Only where the job starts without a checkpoint: checkpoints keep it.
  loop,  ///< Also at the first step of every loop (`run_config::steps_per_loop`).
};

struct state_options {
  std::string name = {};   ///< Unique within the current scope, also among variables.
  symbol_shape dims = {};  ///< {batch, ...}: the unknown "batch" first, the other extents known.
  dtype type = dtype::float32;
  initializer initial = init::zeros();  ///< zeros or constant.
  lifetime lasts = lifetime::run;
};

/// The graph that a model function builds. Not copyable, since symbols point to it.
class TROUPE_API graph {
 public:
  graph();
  ~graph();
  graph(graph&&) noexcept;  ///< Symbols of the source dangle, and its status is an error: move it before building.
  graph& operator=(graph&&) noexcept;

  /// The unknown of that name, made at its first use. The usual one is "batch".
  extent unknown(std::string_view name);
  /// A value fed at every step. Errors of the graph: a repeated name, more than 8 axes or 2^48 elements.
  symbol placeholder(std::string name, dtype type, symbol_shape dims,
                     std::source_location at = std::source_location::current());
  /// A value that is the same at every step.
  symbol constant(const tensor& value, std::source_location at = std::source_location::current());
  /// A value that the model keeps from step to step. Errors of the graph: a repeated name, an extent below 1, a
  /// trainable variable that is not floating.
  symbol variable(variable_options options, std::source_location at = std::source_location::current());
  /// Assigns `value` to `variable` at every training step; evaluation and prediction ignore it. The variable must be
  /// floating, not trainable and assigned once. Reads within the step see the old value. A step that is not finite
  /// assigns nothing. Each gradient shard of a batch has its own value; `variable_options::replicas` says what is kept:
  /// `mean`, the mean of these values; `sum`, the old value plus the sum of all changes. What belongs to a row of the
  /// batch is a carried state.
  void assign(symbol variable, symbol value, std::source_location at = std::source_location::current());

  // Carried state: a value for each row of the batch that goes from step to step, such as the memory of a recurrent
  // model. Row i of a batch reads what row i of the batch before has carried, so the data have to go on row by row
  // (`dataset::streams`). No gradient flows from one step to an earlier one. Training takes whole batches only, and
  // checkpoints keep its rows, so a job resumes exactly, with another number of replicas too; a checkpoint of another
  // batch size is refused. Every evaluation has rows of its own, from the initial value on. In prediction, exports and
  // serving a state is always its initial value.

  /// The rows that the step before has carried. Errors of the graph: a repeated name; dims other than {batch, ...} with
  /// known extents of at least 1; an initial value that is neither zeros nor a constant; a state without `carry`.
  symbol state(state_options options, std::source_location at = std::source_location::current());
  /// Makes `next`, of the same dtype and shape, what the next step reads of `state`: exactly once for each state. A
  /// step that is not applied carries nothing.
  void carry(symbol state, symbol next, std::source_location at = std::source_location::current());

  /// Names made while the returned guard lives begin with `name/`, or `name_1/` if a scope or variable has that name.
  class TROUPE_API scope_guard {
   public:
    scope_guard(scope_guard&& other) noexcept : graph_(other.graph_) { other.graph_ = nullptr; }
    scope_guard& operator=(scope_guard&&) = delete;
    ~scope_guard();

   private:
    friend class graph;
    explicit scope_guard(graph* g) : graph_(g) {}
    graph* graph_;
  };
  /// Opens a scope: see `scope_guard`.
  [[nodiscard]] scope_guard scope(std::string_view name);

  // Summaries are written to the model directory every `save_summary_steps` steps of training, and in no other mode.
  // The current scope is put before the tag; a tag that exists becomes "<tag>_1", ... A summary replaces the default
  // one of the same tag (loss, learning_rate, global_step/sec, examples/sec, a histogram under the name of each
  // trainable variable). Values that only summaries need are computed only in steps that write one. A summary does not
  // change the arithmetic of training, except that its value is not fused away.

  /// Records one number: the mean over replicas and gradient shards.
  void scalar(std::string_view tag, symbol x, std::source_location at = std::source_location::current());
  /// Records the distribution of the elements of x, of any shape, over all replicas and shards together.
  void histogram(std::string_view tag, symbol x, std::source_location at = std::source_location::current());
  /// Records images [n, height, width, channels] with 1, 3 or 4 channels: uint8, or floating in [0, 1] (other values
  /// are clipped, NaN becomes 0). The first `images_max`, 1 to 16, are kept as "<tag>/image/0", ...
  void image(std::string_view tag, symbol x, int images_max = 3,
             std::source_location at = std::source_location::current());
  /// Records UTF-8 text, shown as Markdown, once with the first summaries.
  void text(std::string_view tag, std::string text, std::source_location at = std::source_location::current());

  /// Offers a value of training steps to hooks (hook.hpp), which request it by `name`: unique, not "loss", without the
  /// scope. It is computed only in steps that such a hook sees, and does not change the arithmetic of training. Of a
  /// value whose first axis is the batch, hooks see all rows of the step. Any other value must be floating, and hooks
  /// see its mean over all gradient shards.
  void observe(std::string_view name, symbol x, std::source_location at = std::source_location::current());
  /// Gives tensors of a step to a function of the model, in every mode (host_call.hpp).
  void host_call(host_call_options options, std::source_location at = std::source_location::current());

  /// The first error while building, if any. It names the operation, the shapes and the source line.
  expected<void> status() const;
  /// Records `e`, unless the graph has an error already, and returns an invalid symbol: for your own operations.
  symbol invalid(error e, std::source_location at = std::source_location::current());

  /// One line for each operation: "h/matmul: float32 [batch, 128] = matmul(x, dense/kernel)".
  std::string to_text() const;

 private:
  friend struct graph_access;
  std::unique_ptr<graph_contents> contents_;
};

/// The source location of the caller, which errors of the call name.
#define TROUPE_AT std::source_location at = std::source_location::current()

/// The gradients of the scalar `y` with respect to each of `xs`, as new operations of the same graph; zeros for a
/// symbol that `y` does not depend on. Errors: y is not a scalar, or an operation in between has no gradient.
TROUPE_API std::vector<symbol> gradients(symbol y, std::span<const symbol> xs, TROUPE_AT);
inline std::vector<symbol> gradients(symbol y, std::initializer_list<symbol> xs, TROUPE_AT) {
  return gradients(y, std::span{xs.begin(), xs.size()}, at);
}

}  // namespace troupe
