// A program under construction: bound values and calls in order, rewritten by one pass after the other.
#pragma once

#include "compute/operations/lowering.hpp"
#include "compute/parameters/parameter_store.hpp"
#include "compute/planner/program_options.hpp"

namespace troupe {

struct program_draft : planned_values {
  std::vector<planned_call> calls;
  int64_t arena_bytes = 0;
  int64_t live_bytes_max = 0;  ///< Largest total size of the values that are live at one call.
  int threads = 1;             ///< Threads that share the calls.
};

/// A new value with the dtype and shape of `from`, which no call yields yet; the caller adds the call that fills it.
int32_t add_copy_of(program_draft& p, int32_t from);

// -- passes, in the order they run ---------------------------------------------------

/// The nodes that `roots` need, bound; value i of the draft is node i of the graph.
expected<program_draft> bind_unknowns(const graph_contents& g, std::span<const int32_t> roots,
                                      const parameter_layout& layout, const program_options& options);
/// Sparse gradient: a sum of scatter_adds is written row by row, as `rows` says. Returns the value that replaces it;
/// nothing when the gradient is anything else.
std::optional<int32_t> scatter_rows(program_draft& p, int32_t gradient, const sparse_rows& rows);
/// Constant folding: values with one known number in every element, and arithmetic on them.
void fold_constants(program_draft& p);
/// Common subexpression elimination: of calls that yield the same bits, only the first is kept.
void eliminate_common_calls(program_draft& p);
/// Transpose hoisting: a matrix that many small products take transposed is transposed once.
void hoist_transposes(program_draft& p);
/// Fuses bias and relu into a preceding matmul or conv2d, and relu's gradient into a preceding product or gradient of
/// pooling.
void fuse_layers(program_draft& p);
/// Fuses the loss and the gradient of the logits into one sweep over the logits.
void fuse_cross_entropy(program_draft& p);
/// Fuses a scale into the sum before it.
void fuse_scaled_sum(program_draft& p);
/// Fuses element-wise calls over the same elements; values that only they read stay in the cache.
void fuse_elementwise(program_draft& p);
/// Removes calls whose values are not used.
void remove_dead_code(program_draft& p);
/// Rematerialisation: values that calls before the node `gradients_from` yield and later calls read are recomputed
/// where keeping them would cost more memory.
void recompute(program_draft& p, int32_t gradients_from);
/// Values that only runs need which record this.
struct recorded_values {
  recording_set what = record_values;
  std::vector<int32_t> values;
};
/// Marks the calls that none of `roots` needs with what needs them.
void mark_recording(program_draft& p, std::span<const int32_t> roots, std::span<const recorded_values> recorded);
/// Copy elision: slices become views of their operands, and operands of concatenations are computed in place, where
/// they are contiguous.
void elide_copies(program_draft& p);
/// Estimated work of a run that records nothing, roughly in nanoseconds of one thread: a function of the draft alone.
int64_t work_of(program_draft& p);
/// Sets how many of `p.threads` share each call: one for each `least_work` of its work (roughly nanoseconds of one
/// thread).
void divide_calls(program_draft& p, int64_t least_work);
/// Buffer assignment: one arena by liveness, outputs in place where the operation allows it.
void assign_buffers(program_draft& p);

/// The kernel calls of a planned and placed call: one, or one for each share if it is divided.
std::vector<kernel_call> kernels_of(program_draft& p, const planned_call& c);

/// A description of the calls, once they are lowered.
std::vector<kernel_facts> describe(const program_draft& p);
std::string to_text(const program_draft& p);

}  // namespace troupe
