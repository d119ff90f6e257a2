// A plan while it is made: bound values and calls in order, rewritten by one pass after the other, then placed.
#pragma once

#include "compute/kernels/convolution.hpp"
#include "compute/kernels/fused.hpp"
#include "compute/kernels/gemm.hpp"
#include "compute/operation.hpp"
#include "compute/parameter_store.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>

namespace troupe {

struct program_options;
struct kernel_facts;

struct planned_value {
  std::string name;
  const operation* op = nullptr; ///< Of the node; null for a copy that the planner made.
  std::source_location at;       ///< Where the model made it.
  int32_t gradient_of = -1;      ///< The value whose gradient it belongs to.
  dtype type = dtype::float32;
  shape dims;
  operand where;                 ///< Offset -1 until placed.
  int32_t view_of = -1;          ///< Shares the place of that value,
  int64_t view_offset = 0;       ///<   so many bytes behind its beginning.
  bool keep = false;             ///< To be found in the arena after the run.
  bool read_only = false;        ///< A parameter, feed, constant or gradient: never overwritten in place.
  std::optional<double> splat;   ///< Known while planning: this in every element.
  tensor constant;               ///< With elements: known while planning.
  int32_t feed = -1;
  int64_t copy_offset = -1;      ///< Of a feed: where it is copied to when its memory is not aligned.
  int32_t first = -1, last = -1; ///< The calls that write it first and use it last; set by `place`.
  int64_t bytes() const { return dims.elements() * size_of(type); }
};

struct planned_call {
  const operation* op = nullptr;
  std::vector<int32_t> in, out;
  std::vector<int32_t> nodes;    ///< What it computes, in the order of the graph; more than one when it is fused.
  attributes attr;               ///< `number` already divided by what it is per.
  double factor = 1;             ///< reduce_sum: the sum is scaled by it.
  int32_t bias = -1;             ///< matmul, conv2d: the input that is added to every row,
  int32_t mask = -1;             ///<   of matmul the one where the product counts (elsewhere 0 is written),
  bool relu = false;             ///<   and whether what is negative becomes 0. max_pool_gradient: only where the greatest is positive.
  std::vector<planned_call> parts;  ///< fused: the calls it consists of, in order.
  int shares = 1;                ///< Threads that compute it; until it is placed, at most.
  int64_t workspace_bytes = 0, workspace_offset = -1;  ///< Of one thread, and of the first.
  int64_t flops = 0;             ///< Multiply-adds × 2; known when it is lowered.
  bool removed = false;
  bool recording = false;        ///< Only summaries need it: left out of runs that record nothing.
};

/// What scatter_rows adds up, in order.
struct row_lookups {
  struct lookup {
    operand indices, updates;
    int64_t count = 0;
    bool wide = false;           ///< Indices of 64 bits.
  };
  std::vector<lookup> all;
};

struct plan {
  std::vector<planned_value> values;
  std::vector<planned_call> calls;
  int64_t arena_bytes = 0;
  int64_t live_bytes_max = 0;    ///< The greatest sum of what is in the arena at one call.
  uint64_t seed = 0;
  std::deque<walk> walks;        ///< Referred to by kernel calls,
  std::deque<fused_body> bodies; ///<   as these.
  std::deque<convolution> convolutions;
  std::deque<row_lookups> lookups;

  planned_value& value(int32_t i) { return values[static_cast<size_t>(i)]; }
  const planned_value& value(int32_t i) const { return values[static_cast<size_t>(i)]; }
  /// The value whose memory this one is.
  int32_t root(int32_t i) const;
  /// Where it is, once its root is placed.
  operand place_of(int32_t i) const;
};

/// A new value of the plan, of `from`'s dtype and shape, and nobody's yet; whoever adds it says what fills it.
int32_t add_copy_of(plan& p, int32_t from);

/// How a kernel call can be computed in shares that know nothing of each other.
struct division {
  int64_t items = 0;             ///< Like things that it computes one after the other; 0: it is one whole.
  int64_t unit = 1;              ///< Shares begin at a multiple of so many.
  int extent = 0;                ///< They are what n[extent] counts,
  int64_t each = 1;              ///<   which is so much for one.
  std::array<int64_t, 6> step{}; ///< By which operands move from item to item, in bytes; along a walk: the bytes of an element.
};

/// One call as its operation sees it, and the kernel call that comes of it.
class lowering {
 public:
  lowering(plan& p, const planned_call& c, int share = 0) : call(c), plan_(p), share_(share) {}

  const planned_call& call;
  kernel_call kernel;
  troupe::division division;

  const planned_value& in(int i) const { return plan_.value(call.in[static_cast<size_t>(i)]); }
  const planned_value& out(int i = 0) const { return plan_.value(call.out[static_cast<size_t>(i)]); }
  operand in_at(int i) const { return plan_.place_of(call.in[static_cast<size_t>(i)]); }
  operand out_at(int i = 0) const { return plan_.place_of(call.out[static_cast<size_t>(i)]); }
  operand workspace() const { return {base_arena, call.workspace_offset < 0 ? -1 : call.workspace_offset + share_ * call.workspace_bytes}; }
  uint64_t seed() const { return plan_.seed; }
  walk& new_walk() { return plan_.walks.emplace_back(); }
  fused_body& new_body() { return plan_.bodies.emplace_back(); }
  convolution& new_convolution() { return plan_.convolutions.emplace_back(); }
  row_lookups& new_lookups() { return plan_.lookups.emplace_back(); }
  plan& whole() const { return plan_; }
  /// Sets the kernel for the dtype: one for float32, one for float64.
  void run(dtype t, kernel_function f32, kernel_function f64) { kernel.run = t == dtype::float64 ? f64 : f32; }
  /// Of any number.
  void run(dtype t, kernel_function f32, kernel_function f64, kernel_function i32, kernel_function i64) {
    kernel.run = t == dtype::int32 ? i32 : t == dtype::int64 ? i64 : t == dtype::float64 ? f64 : f32;
  }
  /// Of whatever has elements of that size: moves do not look at values.
  void run_by_size(dtype t, kernel_function one, kernel_function four, kernel_function eight) {
    kernel.run = size_of(t) == 1 ? one : size_of(t) == 4 ? four : eight;
  }

 private:
  plan& plan_;
  int share_;
};

// -- passes, in the order they run ---------------------------------------------------

/// The nodes that `roots` need, bound; value i of the plan is node i of the graph.
expected<plan> bind_unknowns(const graph::impl& g, std::span<const int32_t> roots, const parameter_layout& layout, const program_options& options);
/// A gradient that is a sum of scatter_adds is written row by row, as `rows` says: the value that stands for it from now on.
/// Nothing when it is something else.
std::optional<int32_t> scatter_rows(plan& p, int32_t gradient, const sparse_rows& rows);
/// Values that are the same number everywhere are known now, and so is arithmetic on them.
void fold_constants(plan& p);
/// What would be computed twice, to the same bits, is computed once.
void share_equal_calls(plan& p);
/// What many small products take transposed is transposed once.
void turn_once(plan& p);
/// matmul or conv2d, + bias, relu as one call; the product with a mask where relu's gradient follows it; that of pooling what relu
/// left with relu's own.
void fuse_layers(plan& p);
/// The loss and the gradient of the logits in one pass over them.
void fuse_cross_entropy(plan& p);
/// A factor after a sum goes into the sum.
void fuse_scaled_sum(plan& p);
/// Element-wise calls over the same elements become one, which holds what only they see in the cache.
void fuse_elementwise(plan& p);
/// Calls whose values nobody uses.
void remove_dead_code(plan& p);
/// Of what calls before the node `gradients_from` make and later ones read, what costs less memory to make twice is.
void recompute(plan& p, int32_t gradients_from);
/// Marks the calls that none of `roots` needs: those that only summaries do.
void mark_recording(plan& p, std::span<const int32_t> roots);
/// Slices become views of their operands, parts of concatenations are made in their places, wherever these are one piece of memory.
void elide_moves(plan& p);
/// How many of `threads` share each call: as many as it has work for, of `least_work` each (about nanoseconds of one thread).
void divide_calls(plan& p, int threads, int64_t least_work);
/// One arena by liveness, outputs in place where the operation allows.
void place(plan& p);

/// The kernel calls of a planned and placed one: of each share, if it is divided.
std::vector<kernel_call> kernels_of(plan& p, const planned_call& c);

/// The calls for people, once they are lowered.
std::vector<kernel_facts> describe(const plan& p);
std::string to_text(const plan& p);

}  // namespace troupe
