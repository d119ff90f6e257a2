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

#include <troupe/tensor.hpp>

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
struct graph_contents;  // These two are in compute/graph/graph.hpp.
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
enum class combine : uint8_t { mean, sum, first, own };

/// The initial value of a variable. It is drawn by seed and variable name, so it does not depend on the order of
/// creation. fan_in and fan_out of a matrix are its extents [in, out]; of a convolution kernel [..., in, out] they are
/// the last two, each multiplied by the product of all extents before them; of a vector, both are its extent.
struct initializer {
  enum class kind : uint8_t {
    zeros,
    ones,
    constant,
    uniform,
    normal,
    truncated_normal,
    glorot_uniform,
    glorot_normal,
    he_uniform,
    he_normal,
    lecun_uniform,
    lecun_normal,
    orthogonal,
    values
  } what = kind::zeros;
  double a = 0;       ///< constant: the value; uniform: least; normal: mean; orthogonal: gain.
  double b = 1;       ///< uniform: greatest; normal: standard deviation.
  tensor given = {};  ///< values: the elements.
};
namespace init {
inline initializer zeros() { return {initializer::kind::zeros}; }
inline initializer ones() { return {initializer::kind::ones}; }
inline initializer constant(double value) { return {initializer::kind::constant, value}; }
inline initializer uniform(double least, double greatest) { return {initializer::kind::uniform, least, greatest}; }
inline initializer normal(double mean, double deviation) { return {initializer::kind::normal, mean, deviation}; }
/// Normal; values beyond two deviations are drawn again.
inline initializer truncated_normal(double mean, double deviation) {
  return {initializer::kind::truncated_normal, mean, deviation};
}
/// U(-l, l), l = sqrt(6 / (fan_in + fan_out)). Glorot & Bengio 2010, eq. 16.
inline initializer glorot_uniform() { return {initializer::kind::glorot_uniform}; }
inline initializer glorot_normal() { return {initializer::kind::glorot_normal}; }
/// U(-l, l), l = sqrt(6 / fan_in). He et al. 2015, eq. 10.
inline initializer he_uniform() { return {initializer::kind::he_uniform}; }
inline initializer he_normal() { return {initializer::kind::he_normal}; }
/// U(-l, l), l = sqrt(3 / fan_in): variance 1 / fan_in. LeCun et al. 1998, "Efficient BackProp", eq. 16.
inline initializer lecun_uniform() { return {initializer::kind::lecun_uniform}; }
/// The same variance, truncated normal.
inline initializer lecun_normal() { return {initializer::kind::lecun_normal}; }
/// gain × a random matrix with orthonormal columns, or orthonormal rows if there are fewer rows than columns; uniformly
/// distributed. All axes but the last count as rows. Floating, at least two axes. Saxe et al. 2014.
inline initializer orthogonal(double gain = 1) { return {initializer::kind::orthogonal, gain}; }
/// The elements of `start`, such as embeddings learnt elsewhere; the seed has no effect. A variable of another dtype or
/// shape is an error of the graph. The graph shares the tensor's buffer while it lives.
inline initializer values(tensor start) { return {.what = initializer::kind::values, .given = std::move(start)}; }
}  // namespace init

struct variable_options {
  std::string name = {};  ///< Unique within the current scope.
  shape dims = {};
  dtype type = dtype::float32;
  initializer initial = init::zeros();
  bool trainable = true;             ///< False: the optimizer does not update it; see `graph::assign`.
  combine replicas = combine::mean;  ///< Only for `graph::assign`.
};

/// The graph that a model function builds. Not copyable, since symbols point to it.
class TROUPE_API graph {
 public:
  graph();
  ~graph();
  graph(graph&&) noexcept;  ///< Symbols of the source dangle, so move a graph before building.
  graph& operator=(graph&&) noexcept;

  /// The unknown of that name, made at its first use. The usual one is "batch".
  extent unknown(std::string_view name);
  /// A value fed at every step.
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
  /// `mean`, the mean of these values; `sum`, the old value plus the sum of all changes. `first`, `own`: unimplemented.
  void assign(symbol variable, symbol value, std::source_location at = std::source_location::current());

  /// Names created while the returned guard lives begin with `name/`; a second scope of that name becomes `name_1`.
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
  // one of the same tag (loss, learning_rate, global_step/sec, a histogram under the name of each trainable variable).
  // Values that only summaries need are computed only in steps that write one. A summary does not change the arithmetic
  // of training, except that its value is not fused away.

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
