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
    int64_t pad = 0;        ///< Before the first element.
    friend bool operator==(const axis&, const axis&) = default;
  } y, x;
  int64_t groups = 1;
  friend bool operator==(const windows&, const windows&) = default;
};

/// The attributes that distinguish two nodes of one operation; each operation uses a few of these.
struct attributes {
  double number = 0;        ///< scale: the factor; dropout: the rate; clip, check_range: the least; pad: the value; normalise_rows: ε.
  double number2 = 0;       ///< clip, check_range: the greatest.
  symbol_shape per;         ///< scale: divides the factor by the product of these.
  std::vector<int> axes;    ///< Reductions: sorted, not negative.
  bool keep = false;
  bool transpose_a = false;
  bool transpose_b = false;
  std::vector<int64_t> low, high, step;  ///< strided_slice, pad, tile: for each axis.
  int axis = 0;             ///< gather, concat, cumsum.
  bool reverse = false;     ///< cumsum.
  bool exclusive = false;   ///< cumsum.
  windows window;           ///< Convolutions and pooling.
  std::string key;          ///< dropout: the scoped name that keys it; its gradient has the same. check_numerics, check_range: the message.
  int32_t index = -1;       ///< Among the graph's variables, constants or placeholders.

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
  int32_t gradient_of = -1;  ///< The node whose gradient it is part of; -1: it is the model's own.
};

struct graph_variable {
  variable_options options;  ///< With the scoped name.
  int32_t node = -1;
  int32_t next = -1;         ///< The node whose value a step assigns to it; -1: only the optimizer writes it.
};

/// A summary that the model records.
struct graph_summary {
  summary_value::kind what = summary_value::kind::scalar;
  std::string tag;           ///< Scoped.
  int32_t node = -1;         ///< -1: a text.
  int images_max = 0;
  std::string text;
};

/// A value that hooks may ask for.
struct observed_value {
  std::string name;
  int32_t node = -1;
  bool per_row = false;      ///< Its first axis is the batch.
};

struct graph::impl {
  std::deque<node> nodes;  ///< A deque, so that references to extents stay valid while nodes are added.
  std::vector<std::string> unknowns;
  std::vector<graph_variable> variables;
  std::set<std::string> variable_names;
  std::vector<int32_t> placeholders;
  std::vector<tensor> constants;
  std::vector<graph_summary> summaries;
  std::vector<observed_value> observed;
  std::vector<std::string> scopes;        ///< Prefixes in force, each in full: "a/", "a/b/".
  std::map<std::string, int> names;       ///< How often each name was requested.
  std::optional<error> first_error;
  int32_t differentiated = -1;            ///< The node whose gradient is being written.

  /// The scoped name, made unique by "_1", "_2", ...
  std::string unique(std::string_view name);
};

// -- for operations ----------------------------------------------------------------

bool is_floating(dtype type) noexcept;
bool is_integer(dtype type) noexcept;
/// Floating, int32 or int64.
bool is_number(dtype type) noexcept;
/// "float32 [batch, 3]".
std::string describe(symbol x);
/// The axis counted from the front; nothing when there is no such axis.
std::optional<int> normal_axis(int axis, int rank);
std::string to_string(const graph::impl& g, const symbol_shape& dims);
std::string to_string(const graph& g, const symbol_shape& dims);
/// "matmul: <message> (model.cpp:12)", kept in the graph; yields an invalid symbol.
symbol refuse(graph& g, std::string_view operation, std::string message, std::source_location at);
/// The graph of all operands; null (and the reason kept) when one is invalid or they are of different graphs.
graph* common_graph(std::string_view operation, const std::vector<symbol>& operands, std::source_location at);
/// Appends a node.
symbol append(graph& g, const operation& op, const std::vector<symbol>& inputs, dtype type, symbol_shape dims,
              std::source_location at, attributes attr = {});
/// More elements than any machine holds: larger values are refused while the graph is built or bound.
constexpr int64_t elements_max = int64_t{1} << 48;
/// a · b, both at least 0; nothing above `elements_max`.
std::optional<int64_t> product_within_limit(int64_t a, int64_t b);
/// The product of the extents where all are known.
std::optional<int64_t> known_elements(const symbol_shape& dims);
/// The extents as numbers; all must be known.
shape known_shape(const symbol_shape& dims);

// -- operations that gradients are written with; not public --------------------------

symbol relu_gradient(symbol dy, symbol y, std::source_location at);        ///< dy where y > 0, else 0.
symbol gelu_tanh_gradient(symbol dy, symbol x, std::source_location at);   ///< dy · gelu_tanh'(x), of one shape.
/// (x - mean) / √(variance + epsilon) of each row along the last axis of a floating x; and its gradient, dy and x of one shape.
symbol normalise_rows(symbol x, double epsilon, std::source_location at);
symbol normalise_rows_gradient(symbol dy, symbol x, double epsilon, std::source_location at);
symbol scale_per(symbol x, double factor, symbol_shape per, std::source_location at);  ///< x · factor / Π per.
/// The sum of x over the axes that were broadcast from `dims` to x's shape.
symbol sum_to(symbol x, const symbol_shape& dims, std::source_location at);
/// y[j] = the product of all x[k] along `axis` except x[j].
symbol product_without(symbol x, int axis, std::source_location at);
/// Σ over j of dy[j] · ∂(product_without x)[j] / ∂x; no gradient.
symbol product_without_gradient(symbol x, symbol dy, int axis, std::source_location at);
/// Zeros [outer, n, inner] to which the rows of `updates` [outer, indices, inner] are added at `indices` [indices].
symbol scatter_add_along(symbol indices, symbol updates, extent n, std::source_location at);
/// (softmax(logits) - one_hot(labels)) · dy[:, None].
symbol cross_entropy_gradient(symbol logits, symbol labels, symbol dy, std::source_location at);
/// Dropout with a given key.
symbol keyed_dropout(symbol x, double rate, std::string key, std::source_location at);
/// The gradients of conv2d: for its image, whose extents are given, and for its kernel.
symbol conv2d_image_gradient(symbol dy, symbol kernel, symbol_shape image, const windows& w, std::source_location at);
symbol conv2d_kernel_gradient(symbol x, symbol dy, symbol_shape kernel, const windows& w, std::source_location at);
/// max_pool_pick: in each window, the element of `from` where x is greatest. Its adjoint: dy there and zeros elsewhere.
symbol max_pool_pick(symbol x, symbol from, symbol_shape pooled, const windows& w, std::source_location at);
symbol max_pool_gradient(symbol x, symbol dy, const windows& w, std::source_location at);
/// Each element's share of its windows' dy: dy / the number of elements in the window.
symbol average_pool_gradient(symbol dy, symbol_shape image, const windows& w, std::source_location at);
/// `value` in every element; any dtype.
symbol fill(graph& g, double value, dtype type, symbol_shape dims, std::source_location at);

}  // namespace troupe
