// A plan while it is made: bound values and calls in order, rewritten by one pass after the other, then placed.
#pragma once

#include "compute/operations/lowering.hpp"
#include "compute/parameters/parameter_store.hpp"
#include "compute/planner/program_options.hpp"

namespace troupe {

struct plan : planned_values {
  std::vector<planned_call> calls;
  int64_t arena_bytes = 0;
  int64_t live_bytes_max = 0;    ///< The greatest sum of what is in the arena at one call.
};

/// A new value of the plan, of `from`'s dtype and shape, and nobody's yet; whoever adds it says what fills it.
int32_t add_copy_of(plan& p, int32_t from);

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
