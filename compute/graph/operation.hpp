// Operations as the planner and autodiff see them. Each operation is one constant of this type, defined in operations/
// beside its shape rule, kernel and gradient rule. The registry lists all of them.
#pragma once

#include "compute/graph/graph.hpp"

namespace troupe {

class lowering;

/// The input of a gradient rule.
struct gradient_input {
  graph& g;
  node n;    ///< A copy: the graph grows while the rule runs.
  symbol y;  ///< The node's own value.
  symbol dy;
  std::vector<symbol> x;  ///< The node's inputs.
  std::source_location at;
};

struct operation {
  std::string_view name;
  /// The gradient of each input; an invalid symbol stands for zero. Null: no gradient, and `no_gradient` says why.
  std::vector<symbol> (*gradient)(const gradient_input& in) = nullptr;
  std::string_view no_gradient = {};
  /// Turns a planned node into a kernel call. Null for sources (placeholder, variable, constant, state).
  void (*lower)(lowering& l) = nullptr;
  /// Bytes of scratch memory that the kernel needs.
  int64_t (*workspace)(const lowering& l) = nullptr;
  /// Floating-point operations: multiply-adds × 2.
  int64_t (*flops)(const lowering& l) = nullptr;
  /// Whether the last output may overwrite an input of its dtype and shape.
  bool in_place = false;
  /// Whether the output is the input's memory under another shape.
  bool view = false;
  /// Each output element depends only on the same element of each input. The kernel's operands are the inputs in order
  /// and then the output: of n[0] elements each, or along one walk.
  bool elementwise = false;
  /// The word for an integer operand in the error that it is out of range.
  std::string_view index_is = "index";
};

/// Every operation that a graph can hold.
std::span<const operation* const> operations();

namespace ops {
extern const operation placeholder, constant, variable, state;
extern const operation matmul, batched_matmul;
extern const operation add, sub, mul, div, pow, maximum, minimum, relu_gradient;
extern const operation equal, not_equal, less, less_equal, greater, greater_equal, logical_and, logical_or, logical_not,
    select;
extern const operation neg, exp, expm1, log, log1p, sqrt, rsqrt, square, abs, sign, floor, erf, scale, clip, relu,
    sigmoid, softplus, tanh, gelu_tanh, gelu_tanh_gradient;
extern const operation cast, stop_gradient, check_numerics, check_range;
extern const operation reduce_sum, reduce_max, reduce_min, reduce_prod, product_without, product_without_gradient,
    argmax, argmin, cumsum;
extern const operation softmax, log_softmax, normalise_rows, normalise_rows_gradient;
extern const operation reshape, broadcast_to, transpose, reverse, strided_slice, pad, tile, concat;
extern const operation gather, scatter_add, one_hot, search_sorted;
extern const operation sparse_softmax_cross_entropy, cross_entropy_gradient;
extern const operation dropout;
extern const operation conv2d, conv2d_image_gradient, conv2d_kernel_gradient;
extern const operation max_pool, max_pool_pick, max_pool_gradient, average_pool, average_pool_gradient;
// Made by the planner only:
extern const operation cross_entropy_with_gradient;  ///< (logits, labels) -> (loss, dlogits for dy = `number`)
extern const operation fill_value;                   ///< () -> `number` everywhere
extern const operation copy;
extern const operation scatter_rows;  ///< (indices, updates, ...) -> a variable's sparse gradient
extern const operation fused;         ///< Element-wise calls over the same elements, chunk by chunk.
}  // namespace ops

}  // namespace troupe
