// The contents of a graph, and the few functions that operations are written with.
//
// Nodes are only ever appended, so a node's number is also its place in a topological order.
#pragma once

#include <troupe/operations.hpp>
#include <troupe/summary.hpp>

#include <deque>
#include <map>
#include <set>

namespace troupe {

struct operation;

/// The position of the windows of a convolution or pooling on the two axes of an image.
struct windows {
  struct axis {
    int64_t size = 1, stride = 1, dilation = 1;
    int64_t pad = 0;  ///< Padding before the first element.
    friend bool operator==(const axis&, const axis&) = default;
  } y, x;
  int64_t groups = 1;
  friend bool operator==(const windows&, const windows&) = default;
};

/// The attributes that distinguish two nodes of one operation; each operation uses a few of these.
struct attributes {
  double number = 0;  ///< scale: factor; dropout: rate; clip, check_range: lower bound; pad: value; normalise_rows: ε.
  double number2 = 0;     ///< clip, check_range: upper bound.
  symbol_shape per;       ///< scale: the factor is `number` / the product of these extents.
  std::vector<int> axes;  ///< Reductions: sorted, not negative.
  bool keep = false;
  bool transpose_a = false;
  bool transpose_b = false;
  std::vector<int64_t> low, high, step;  ///< strided_slice, pad, tile: for each axis.
  int axis = 0;                          ///< gather, concat, cumsum.
  bool reverse = false;                  ///< cumsum.
  bool exclusive = false;                ///< cumsum.
  windows window;                        ///< Convolutions and pooling.
  /// dropout: the random key, which is the scoped name and is shared with the gradient. check_numerics, check_range:
  /// the message.
  std::string key;
  int32_t index = -1;  ///< Index among the graph's variables, states, constants or placeholders.

  friend bool operator==(const attributes&, const attributes&) = default;
};

struct node {
  std::string name;
  const operation* op = nullptr;
  std::vector<int32_t> inputs;
  attributes attr;
  dtype type = dtype::float32;
  symbol_shape dims;
  std::source_location at;
  int32_t gradient_of = -1;  ///< The node whose gradient this node helps to compute; -1: the model made it.
};

struct graph_variable {
  variable_options options;  ///< With the scoped name.
  int32_t node = -1;
  int32_t next = -1;  ///< The node whose value a step assigns to it; -1: only the optimizer writes it.
};

struct graph_state {
  state_options options;  ///< With the scoped name.
  int32_t node = -1;
  int32_t next = -1;  ///< The node whose value a step carries to the next; -1: none yet.
};

/// A summary that the model records.
struct graph_summary {
  summary_value::kind what = summary_value::kind::scalar;
  std::string tag;    ///< Scoped.
  int32_t node = -1;  ///< -1: a text.
  int images_max = 0;
  std::string text;
};

/// A value that hooks may ask for.
struct observed_value {
  std::string name;
  int32_t node = -1;
  bool per_row = false;  ///< Whether its first axis is the batch.
};

/// Tensors of a step for a function of the model.
struct graph_host_call {
  std::string name;
  std::vector<std::pair<std::string, int32_t>> tensors;  ///< Names and nodes.
  int64_t every = 1;
};

struct graph_contents {
  std::deque<node> nodes;  ///< A deque, so that references to extents stay valid while nodes are added.
  std::vector<std::string> unknowns;
  std::map<std::string, int32_t, std::less<>> unknown_numbers;  ///< By name: the index in `unknowns`.
  std::vector<graph_variable> variables;
  std::set<std::string> variable_names;  ///< Those of states, too.
  std::vector<graph_state> states;
  bool states_are_initial = false;  ///< Nothing is carried: the node of a state is its initial value.
  std::vector<int32_t> placeholders;
  std::set<std::string> placeholder_names;
  std::vector<tensor> constants;
  std::vector<graph_summary> summaries;
  std::vector<observed_value> observed;
  std::vector<graph_host_call> host_calls;
  std::vector<std::string> scopes;   ///< Prefixes in force, each in full: "a/", "a/b/".
  std::map<std::string, int> names;  ///< How often each name was requested; those of scopes end with "/".
  bool reuses_variables = false;     ///< See reusable_scope.
  std::optional<error> first_error;
  int32_t differentiated = -1;  ///< The node whose gradient is being written.

  /// The scoped name, made unique by "_1", "_2", ...; a scope's ends with "/". So neither features and labels, of which
  /// some data have fewer, nor operations, which differ by mode, take the names of scopes and rename variables.
  std::string unique(std::string_view name, std::string_view ending = {});
  /// Takes the name of a variable or state also from scopes: its slots are stored below it.
  void claim(const std::string& variable);
};

/// The only way to the contents of a graph.
struct graph_access {
  static graph_contents& contents(graph& g) noexcept { return *g.contents_; }
  static const graph_contents& contents(const graph& g) noexcept { return *g.contents_; }
  static symbol at(graph& g, int32_t node) noexcept { return symbol{&g, node}; }
};

inline graph_contents& contents_of(graph& g) noexcept { return graph_access::contents(g); }
inline const graph_contents& contents_of(const graph& g) noexcept { return graph_access::contents(g); }
/// The states that programs read and carry; none if they are always initial.
inline std::span<const graph_state> carried_states(const graph_contents& g) noexcept {
  return g.states_are_initial ? std::span<const graph_state>{} : std::span{g.states};
}
/// invalid_argument: the graph has a state that it never carries.
expected<void> check_states(const graph_contents& g);
/// The symbol of node number `node`; -1: an invalid symbol.
inline symbol symbol_of(graph& g, int32_t node) noexcept { return graph_access::at(g, node); }

// -- for operations ----------------------------------------------------------------

bool is_floating(dtype type) noexcept;
bool is_integer(dtype type) noexcept;
/// Floating, int32 or int64.
bool is_number(dtype type) noexcept;
/// "float32 [batch, 3]".
std::string describe(symbol x);
/// The axis counted from the front; nothing when there is no such axis.
std::optional<int> normal_axis(int axis, int rank);
std::string to_string(const graph_contents& g, const symbol_shape& dims);
std::string to_string(const graph& g, const symbol_shape& dims);
/// " (model.cpp:12)" for the end of an error; "" for the place of a default value, which is nobody's source.
std::string place_text(const std::source_location& at);
/// Keeps the error "matmul: <message> (model.cpp:12)" in the graph and returns an invalid symbol.
symbol refuse(graph& g, std::string_view operation, std::string message, std::source_location at);
/// The graph of all operands. Null, with an error kept in the graph, if one is invalid or they are of different graphs.
graph* common_graph(std::string_view operation, const std::vector<symbol>& operands, std::source_location at);
/// Appends a node.
symbol append(graph& g, const operation& op, const std::vector<symbol>& inputs, dtype type, symbol_shape dims,
              std::source_location at, attributes attr = {});
/// The most elements of a value: more than any machine holds. Larger values are refused while the graph is built or
/// bound.
constexpr int64_t elements_max = int64_t{1} << 48;
/// a · b for a, b >= 0; nothing if it exceeds `elements_max`.
std::optional<int64_t> product_within_limit(int64_t a, int64_t b);
/// The product of the extents; nothing if one is unknown, or if it exceeds `elements_max`.
std::optional<int64_t> known_elements(const symbol_shape& dims);
/// The extents as numbers; all must be known.
shape known_shape(const symbol_shape& dims);

// -- operations that gradients are written with; not public --------------------------

symbol relu_gradient(symbol dy, symbol y, std::source_location at);  ///< dy where y > 0, else 0.
/// dy · gelu_tanh'(x); dy and x have one shape.
symbol gelu_tanh_gradient(symbol dy, symbol x, std::source_location at);
/// Normalises each row along the last axis of a floating x: (x - mean) / √(variance + epsilon). In the gradient, dy and
/// x have one shape.
symbol normalise_rows(symbol x, double epsilon, std::source_location at);
symbol normalise_rows_gradient(symbol dy, symbol x, double epsilon, std::source_location at);
symbol scale_per(symbol x, double factor, symbol_shape per, std::source_location at);  ///< x · factor / Π per.
/// Sums x over the axes along which `dims` was broadcast to x's shape.
symbol sum_to(symbol x, const symbol_shape& dims, std::source_location at);
/// y[j] = the product of all x[k] along `axis` except x[j].
symbol product_without(symbol x, int axis, std::source_location at);
/// Σ over j of dy[j] · ∂(product_without x)[j] / ∂x. It has no gradient itself.
symbol product_without_gradient(symbol x, symbol dy, int axis, std::source_location at);
/// Adds the rows of `updates` [outer, indices, inner] to zeros [outer, n, inner] at `indices` [indices].
symbol scatter_add_along(symbol indices, symbol updates, extent n, std::source_location at);
/// The gradient for the logits: (softmax(logits) - one_hot(labels)) · dy[:, None].
symbol cross_entropy_gradient(symbol logits, symbol labels, symbol dy, std::source_location at);
/// Dropout with a given key.
symbol keyed_dropout(symbol x, double rate, std::string key, std::source_location at);
/// The gradients of conv2d: for its image, of shape `image`, and for its kernel, of shape `kernel`.
symbol conv2d_image_gradient(symbol dy, symbol kernel, symbol_shape image, const windows& w, std::source_location at);
symbol conv2d_kernel_gradient(symbol x, symbol dy, symbol_shape kernel, const windows& w, std::source_location at);
/// max_pool_pick takes from each window the element of `from` where x is greatest. max_pool_gradient is its adjoint: dy
/// there and zeros elsewhere.
symbol max_pool_pick(symbol x, symbol from, symbol_shape pooled, const windows& w, std::source_location at);
symbol max_pool_gradient(symbol x, symbol dy, const windows& w, std::source_location at);
/// The gradient of average pooling: each window gives dy / its number of elements to each of its elements.
symbol average_pool_gradient(symbol dy, symbol_shape image, const windows& w, std::source_location at);
/// A value of any dtype with `value` in every element.
symbol fill(graph& g, double value, dtype type, symbol_shape dims, std::source_location at);

}  // namespace troupe
