// Operations: what the planner and the gradient builder know of each; one constant of this type an operation, beside
// its shape rule, kernel and gradient rule in operations/. The registry lists them all.
#pragma once

#include "compute/graph.hpp"

namespace troupe {

class lowering;

/// What a gradient rule is given.
struct gradient_input {
  graph& g;
  node n;                      ///< A copy: the graph grows while the rule runs.
  symbol y;                    ///< The node's own value.
  symbol dy;
  std::vector<symbol> x;       ///< The node's inputs.
  std::source_location at;
};

struct operation {
  std::string_view name;
  /// The gradient of each input; an invalid symbol stands for zero. Null: there is none, and `no_gradient` says why.
  std::vector<symbol> (*gradient)(const gradient_input& in) = nullptr;
  std::string_view no_gradient = {};
  /// Turns a planned node into a kernel call. Null for sources (placeholder, variable, constant).
  void (*lower)(lowering& l) = nullptr;
  /// Bytes of scratch memory that the kernel wants.
  int64_t (*workspace)(const lowering& l) = nullptr;
  /// Multiply-adds × 2.
  int64_t (*flops)(const lowering& l) = nullptr;
  /// The last output may overwrite an input of its dtype and shape.
  bool in_place = false;
  /// The output is the input's memory under another shape.
  bool view = false;
};

/// Every operation that a graph can hold.
std::span<const operation* const> operations();

namespace ops {
extern const operation placeholder, constant, variable;
extern const operation matmul;
extern const operation add, sub, mul, div, maximum, minimum, equal, greater_equal, relu_gradient;
extern const operation neg, exp, log, sqrt, square, abs, sign, relu, sigmoid, tanh, scale;
extern const operation cast, stop_gradient;
extern const operation reduce_sum, reduce_max, argmax;
extern const operation reshape, broadcast_to, one_hot;
extern const operation concat, columns;
extern const operation softmax, log_softmax;
extern const operation sparse_softmax_cross_entropy, cross_entropy_gradient;
extern const operation dropout;
// Made by the planner only:
extern const operation cross_entropy_with_gradient;  ///< (logits, labels) -> (loss, dlogits for a dy that is `number` everywhere)
extern const operation fill_value;                   ///< () -> `number` everywhere
extern const operation copy;
}  // namespace ops

}  // namespace troupe
