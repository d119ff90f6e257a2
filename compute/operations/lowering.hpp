// What an operation sees of a plan while it is lowered to a kernel call: its own call, the values of the plan, and the
// owner of data that the kernel call refers to.
#pragma once

#include "compute/graph/operation.hpp"
#include "compute/kernels/convolution.hpp"
#include "compute/kernels/fused.hpp"
#include "compute/kernels/gemm.hpp"
#include "compute/kernels/recording.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>

namespace troupe {

struct planned_value {
  std::string name;
  const operation* op = nullptr;  ///< The node's operation; null for a copy that the planner made.
  std::source_location at;        ///< The source line at which the model made it.
  int32_t gradient_of = -1;       ///< The value whose gradient it helps to compute; -1: none.
  dtype type = dtype::float32;
  shape dims;
  operand where;                ///< Offset -1 until placed.
  int32_t view_of = -1;         ///< The value whose memory it shares.
  int64_t view_offset = 0;      ///< Bytes from the beginning of that value.
  bool keep = false;            ///< Whether it must be in the arena after the run.
  bool read_only = false;       ///< A parameter, feed, constant or gradient: never overwritten in place.
  std::optional<double> splat;  ///< The number in every element, if that is known while planning.
  tensor constant;              ///< The value, if it is known while planning; else without elements.
  int32_t feed = -1;
  int64_t copy_offset = -1;       ///< feed: offset of its copy, used when its memory is not aligned.
  int32_t first = -1, last = -1;  ///< The calls that write it first and use it last; set by `place`.
  int64_t bytes() const { return dims.elements() * size_of(type); }
};

struct planned_call {
  const operation* op = nullptr;
  std::vector<int32_t> in, out;
  /// The graph nodes that it computes, in the order of the graph; several when it is fused.
  std::vector<int32_t> nodes;
  attributes attr;
  double factor = 1;  ///< reduce_sum: scales the sum.
  /// scale, reduce_sum: divides the result, with one rounding. For scale it is the product of `per`.
  double divisor = 1;
  int32_t bias = -1;  ///< matmul, conv2d: index in `in` of the bias, which is added to every row.
  int32_t mask = -1;  ///< matmul: index in `in` of the mask: the result is 0 where it is not positive.
  /// Negative results become 0. max_pool_gradient: the result is 0 where the maximum is not positive.
  bool relu = false;
  std::vector<planned_call> fused;                     ///< fused: the calls it consists of, in order.
  int shares = 1;                                      ///< Threads that share it; an upper bound until it is lowered.
  int64_t workspace_bytes = 0, workspace_offset = -1;  ///< Size for one thread, and offset for the first thread.
  int64_t flops = 0;                                   ///< Multiply-adds × 2; set when it is lowered.
  bool removed = false;
  recording_set recording = 0;  ///< Skipped in runs that record none of these; 0: in no run.
};

/// The look-ups whose updates scatter_rows adds up, in order.
struct row_lookups {
  struct lookup {
    operand indices, updates;
    int64_t count = 0;
    bool wide = false;  ///< 64-bit indices.
  };
  std::vector<lookup> all;
};

/// The values of a plan, and the data that its kernel calls refer to.
struct planned_values {
  std::vector<planned_value> values;
  uint64_t seed = 0;
  std::deque<walk> walks;
  std::deque<fused_body> bodies;
  std::deque<convolution> convolutions;
  std::deque<row_lookups> lookups;

  planned_value& value(int32_t i) { return values[static_cast<size_t>(i)]; }
  const planned_value& value(int32_t i) const { return values[static_cast<size_t>(i)]; }
  /// The value whose memory this value uses.
  int32_t root(int32_t i) const;
  /// The value's location, once its root is placed.
  operand place_of(int32_t i) const;
};

/// How a kernel call can be divided into independent shares.
struct division {
  int64_t items = 0;              ///< Number of equal items computed one after the other; 0: indivisible.
  int64_t unit = 1;               ///< Shares begin at multiples of this.
  int extent = 0;                 ///< Index in `n` of the extent that counts the items.
  int64_t each = 1;               ///< Units of that extent per item.
  std::array<int64_t, 6> step{};  ///< By operand: bytes from item to item; along a walk, the bytes of an element.
};

/// One call as its operation sees it, and the kernel call made from it.
class lowering {
 public:
  lowering(planned_values& values, const planned_call& c, int share = 0) : call(c), values_(values), share_(share) {}

  const planned_call& call;
  kernel_call kernel;
  troupe::division division;

  const planned_value& in(int i) const { return values_.value(call.in[static_cast<size_t>(i)]); }
  const planned_value& out(int i = 0) const { return values_.value(call.out[static_cast<size_t>(i)]); }
  operand in_at(int i) const { return values_.place_of(call.in[static_cast<size_t>(i)]); }
  operand out_at(int i = 0) const { return values_.place_of(call.out[static_cast<size_t>(i)]); }
  operand workspace() const {
    return {base_arena, call.workspace_offset < 0 ? -1 : call.workspace_offset + share_ * call.workspace_bytes};
  }
  uint64_t seed() const { return values_.seed; }
  walk& new_walk() { return values_.walks.emplace_back(); }
  fused_body& new_body() { return values_.bodies.emplace_back(); }
  convolution& new_convolution() { return values_.convolutions.emplace_back(); }
  row_lookups& new_lookups() { return values_.lookups.emplace_back(); }
  planned_values& values() const { return values_; }
  /// Sets the kernel for the dtype: one for float32, one for float64.
  void run(dtype t, kernel_function f32, kernel_function f64) { kernel.run = t == dtype::float64 ? f64 : f32; }
  /// For any number type.
  void run(dtype t, kernel_function f32, kernel_function f64, kernel_function i32, kernel_function i64) {
    kernel.run = t == dtype::int32 ? i32 : t == dtype::int64 ? i64 : t == dtype::float64 ? f64 : f32;
  }
  /// For any type, by element size: copies do not depend on the values.
  void run_by_size(dtype t, kernel_function one, kernel_function four, kernel_function eight) {
    kernel.run = size_of(t) == 1 ? one : size_of(t) == 4 ? four : eight;
  }

 private:
  planned_values& values_;
  int share_;
};

}  // namespace troupe
