// Graphs: what a model function describes, once per mode; nothing is computed while it is built.
// Read it to begin with.
//
//   auto w = g.variable({.name = "w", .dims = {784, 128}, .initial = tr::init::glorot_uniform()});
//   auto h = tr::relu(tr::matmul(x, w));
//
// The operations themselves are in <troupe/operations.hpp>.
// Building never throws and never stops: a wrong shape, dtype or name is kept in the graph, with the operation, both
// shapes and the source line; operations on an invalid symbol yield invalid symbols. `graph::status()` and the planner
// return the first such error. A graph and its symbols belong to one thread at a time.
#pragma once

#include <troupe/tensor.hpp>

#include <functional>
#include <source_location>

namespace troupe {

/// One extent of a symbol: a number, or `coefficient` × a named unknown ("batch") that is bound when planned.
struct extent {
  int64_t coefficient = 0;
  int32_t unknown = -1;  ///< Index among the graph's unknowns; -1: the extent is the number `coefficient`.

  extent() = default;
  extent(int64_t number) : coefficient(number) {}  // NOLINT(google-explicit-constructor): {batch, 784} should read so.
  static extent of_unknown(int32_t index, int64_t coefficient = 1) { extent e{coefficient}; e.unknown = index; return e; }
  bool known() const noexcept { return unknown < 0; }
  friend bool operator==(const extent&, const extent&) = default;
};
using symbol_shape = std::vector<extent>;

class graph;

/// An edge of a graph: the value that one operation yields. Cheap to copy; valid while its graph lives.
class TROUPE_API symbol {
 public:
  symbol() = default;
  bool valid() const noexcept { return graph_ != nullptr && node_ >= 0; }
  troupe::graph* owner() const noexcept { return graph_; }
  int32_t node() const noexcept { return node_; }
  dtype type() const;                ///< float32 for an invalid symbol.
  const symbol_shape& dims() const;  ///< Empty for an invalid symbol. Valid while the graph lives and stays where it is.
  int rank() const { return static_cast<int>(dims().size()); }

 private:
  friend class graph;
  symbol(troupe::graph* owner, int32_t node) : graph_(owner), node_(node) {}
  troupe::graph* graph_ = nullptr;
  int32_t node_ = -1;
};

/// How the replicas' values of one variable are combined into the stored one.
enum class combine : uint8_t { mean, sum, first, own };

/// The starting value of a variable; drawn from keys (seed, variable name), so it does not depend on creation order.
/// fan_in and fan_out of a matrix are its extents [in, out]; of a convolution kernel [..., in, out] they are the last
/// two, each times the product of all extents before them; of a vector, both are its extent.
struct initializer {
  enum class kind : uint8_t { zeros, ones, constant, uniform, normal, truncated_normal,
                              glorot_uniform, glorot_normal, he_uniform, he_normal,
                              lecun_uniform, lecun_normal, orthogonal, values } what = kind::zeros;
  double a = 0;  ///< constant: the value; uniform: least; normal: mean; orthogonal: gain.
  double b = 1;  ///< uniform: greatest; normal: standard deviation.
  tensor given = {};  ///< values: the elements.
};
namespace init {
inline initializer zeros() { return {initializer::kind::zeros}; }
inline initializer ones() { return {initializer::kind::ones}; }
inline initializer constant(double value) { return {initializer::kind::constant, value}; }
inline initializer uniform(double least, double greatest) { return {initializer::kind::uniform, least, greatest}; }
inline initializer normal(double mean, double deviation) { return {initializer::kind::normal, mean, deviation}; }
/// Normal, redrawn beyond two deviations.
inline initializer truncated_normal(double mean, double deviation) { return {initializer::kind::truncated_normal, mean, deviation}; }
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
/// gain × a uniformly distributed matrix with orthonormal columns, or orthonormal rows where there are fewer rows. With
/// more than two axes, all but the last count as rows. Floating, at least two axes. Saxe et al. 2014.
inline initializer orthogonal(double gain = 1) { return {initializer::kind::orthogonal, gain}; }
/// The elements of `start`, such as rows learnt elsewhere, whatever the seed. A variable of another dtype or shape is an
/// error of the graph. The model's graph shares the tensor's buffer as long as it lives.
inline initializer values(tensor start) { return {.what = initializer::kind::values, .given = std::move(start)}; }
}  // namespace init

struct variable_options {
  std::string name = {};                   ///< Within the current scope; unique there.
  shape dims = {};
  dtype type = dtype::float32;
  initializer initial = init::zeros();
  bool trainable = true;
  combine replicas = combine::mean;
};

/// The graph that `model_fn` builds. Not copyable; symbols point to it.
class TROUPE_API graph {
 public:
  graph();
  ~graph();
  graph(graph&&) noexcept;  ///< Leaves symbols of the source dangling; move before building.
  graph& operator=(graph&&) noexcept;

  /// The named unknown, made on first use. `g.unknown("batch")` is the usual one.
  extent unknown(std::string_view name);
  /// A value fed at every step.
  symbol placeholder(std::string name, dtype type, symbol_shape dims, std::source_location at = std::source_location::current());
  symbol constant(const tensor& value, std::source_location at = std::source_location::current());
  symbol variable(variable_options options, std::source_location at = std::source_location::current());
  /// While training, every step assigns `value` to `variable`, which must be floating, not trainable and assigned only
  /// once; within the step, reads see the old value. A step that is not finite assigns nothing. Where a batch is cut
  /// into gradient shards, each shard has a value of its own; by `variable_options::replicas`, their mean is kept, or
  /// (sum) the old value plus all that they add to it; first and own cannot be assigned yet. Evaluation and prediction
  /// ignore it.
  void assign(symbol variable, symbol value, std::source_location at = std::source_location::current());

  /// Names made while the returned guard lives are put under `name/`; a second scope of that name becomes `name_1`.
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
  [[nodiscard]] scope_guard scope(std::string_view name);

  // Summaries are kept in the model directory every save_summary_steps while training and nowhere else. The tag is put
  // under the current scope; a tag that is taken becomes "<tag>_1", ... A default summary (loss, learning_rate,
  // global_step/sec, a histogram under the name of each trainable variable) gives way to a summary of the same tag.
  // Values that only summaries need are computed only when one is due.
  // Recording does not change the arithmetic of training, except that a recorded value is not fused away.

  /// One number; the mean over replicas and gradient shards is kept.
  void scalar(std::string_view tag, symbol x, std::source_location at = std::source_location::current());
  /// Numbers of any shape; those of all replicas and shards are counted together.
  void histogram(std::string_view tag, symbol x, std::source_location at = std::source_location::current());
  /// [n, height, width, channels] with 1, 3 or 4 channels: uint8, or floating from 0 to 1 (what lies outside is clipped,
  /// NaN is 0). The first `images_max` are kept, as "<tag>/image/0", ...; 1 to 16.
  void image(std::string_view tag, symbol x, int images_max = 3, std::source_location at = std::source_location::current());
  /// UTF-8, shown as Markdown; kept once, with the first summaries.
  void text(std::string_view tag, std::string text, std::source_location at = std::source_location::current());

  /// A value of training steps that hooks may ask for by `name` (hook.hpp), which is unique and not put under a scope. It is
  /// computed only for steps that such a hook is shown, and does not change the arithmetic of training. A value whose first
  /// axis is the batch is shown as the rows of the whole step, those of all gradient shards in their order. Any other value
  /// must be floating; the mean over all shards is shown. Errors: an empty name, "loss", a name that is taken.
  void observe(std::string_view name, symbol x, std::source_location at = std::source_location::current());

  /// The first error made while building, if any. Names the operation, the shapes and the source line.
  expected<void> status() const;
  /// Keeps `e` unless an earlier error is kept, and yields an invalid symbol: for operations defined elsewhere.
  symbol invalid(error e, std::source_location at = std::source_location::current());

  /// One line an operation: "h/matmul: float32 [batch, 128] = matmul(x, dense/kernel)".
  std::string to_text() const;

  struct impl;  // In compute/graph/graph.hpp.
  impl& internals() noexcept { return *impl_; }
  const impl& internals() const noexcept { return *impl_; }

  symbol make_symbol(int32_t node) { return symbol{this, node}; }

 private:
  std::unique_ptr<impl> impl_;
};

/// The source location of the caller: where an error of the call points to.
#define TROUPE_AT std::source_location at = std::source_location::current()

/// The gradients of the scalar `y` with respect to each of `xs`, as new operations of the same graph. A symbol that `y`
/// does not depend on gets zeros. Errors: y not scalar, or an operation without a gradient on the way.
TROUPE_API std::vector<symbol> gradients(symbol y, std::span<const symbol> xs, TROUPE_AT);
inline std::vector<symbol> gradients(symbol y, std::initializer_list<symbol> xs, TROUPE_AT) {
  return gradients(y, std::span{xs.begin(), xs.size()}, at);
}

}  // namespace troupe
