// A program: the planned, allocation-free executable of one graph for one binding of its unknowns.
//
//   auto p = program::plan(graph, spec, layout, {.batch = 128, .seed = 1});
//   auto status = p->gradients({...});                     // forward and backward: the flat gradient of one shard
//   p->apply(step, {0, layout.gradient_bytes()}, gradient, base, base);   // the fused update, in place or into a spare arena
//
// Planning lowers the graph (and, to train, its gradients) to a list of kernels over base + offset, with one arena for
// all intermediate values by liveness, fused and in-place element-wise operations, fused bias + activation and softmax
// cross-entropy, and planned GEMM workspace. Running takes no lock and allocates nothing.
// One program runs on one thread at a time, which may have others help it; programs do not share memory, but may share a pool
// when they run in turn.
#pragma once

#include "compute/numeric_fault.hpp"
#include "compute/parameter_store.hpp"
#include "compute/thread_pool.hpp"

#include <troupe/dataset.hpp>
#include <troupe/model.hpp>

#include <atomic>

namespace troupe {

struct program_options {
  int64_t batch = 1;       ///< Rows of the shard that this program computes: the unknown "batch".
  int32_t shards = 1;      ///< S: the loss is scaled by 1/S before differentiation (MEAN over shards).
  uint64_t seed = 0;       ///< Of the keyed random operations.
  bool fuse = true;        ///< Element-wise operations over the same elements become one kernel; the bits are the same.
  bool share = true;       ///< What would be computed twice is computed once; the bits are the same.
  bool elide = true;       ///< What lies in one piece of memory is not moved: slices and concatenations; the bits are the same.
  /// Threads that share the kernels; null: only the one that runs the program. The bits are the same for every number of them.
  std::shared_ptr<thread_pool> pool = nullptr;
  /// The work that is worth a thread of the pool, about nanoseconds of it.
  int64_t least_work = 4000;
  bool recompute = false;  ///< To train: values that take less memory when they are made twice are; the bits are the same.
};

/// What went wrong in a step; flags, OR-ed over replicas.
enum class step_status : uint32_t { ok = 0, not_finite = 1, cancelled = 2, ended = 4, bad_input = 8 };
constexpr step_status operator|(step_status a, step_status b) { return static_cast<step_status>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b)); }
constexpr bool has(step_status all, step_status one) { return (static_cast<uint32_t>(all) & static_cast<uint32_t>(one)) != 0; }

/// Where one run finds its inputs.
struct step_input {
  int64_t step = 0;                        ///< Absolute; keys random numbers.
  int32_t shard = 0;                       ///< In [0, S); keys random numbers.
  const std::byte* parameters = nullptr;   ///< Base of the arena.
  const std::byte* shared = nullptr;       ///< Base of the part that no step updates.
  /// One pointer a component, in the order of `inputs()`; one that is not 64-byte aligned is copied once.
  std::span<const std::byte* const> feeds;
  bool record = false;                     ///< Computes what only summaries need too.
  const std::atomic<bool>* cancel = nullptr;  ///< Looked at between kernels; set: the run ends as `cancelled`.
};

/// One kernel call of a program, for people.
struct kernel_facts {
  struct buffer {
    std::string name;            ///< Of the node whose value it is.
    dtype type = dtype::float32;
    shape dims;
    std::string where;           ///< "arena+64", "parameters+0", "feed 1"
    int64_t bytes() const { return dims.elements() * size_of(type); }
  };
  std::string title;             ///< "matmul +bias +relu", "fused: exp, square"
  std::vector<buffer> reads, writes;
  int64_t workspace_bytes = 0, workspace_offset = -1;
  int64_t flops = 0;             ///< Multiply-adds × 2 of products and convolutions; of others 0.
  bool recording = false;        ///< For summaries alone.
};

class program {
 public:
  /// invalid_argument: an error kept in the graph, a variable the layout lacks or has in another shape, an unbound unknown.
  static expected<std::unique_ptr<program>> plan(const graph& g, const model_spec& spec, const parameter_layout& layout,
                                                 const program_options& options);
  ~program();

  /// The fed components, in feed order: by name, as `placeholder` named them.
  std::span<const component> inputs() const noexcept;
  /// Names of what `output` returns: "loss", then metrics as "<name>/total" and "<name>/weight", then predictions.
  std::span<const component> outputs() const noexcept;

  /// Train: loss, outputs and the gradient of one shard, written to `gradient` (`layout.gradient_bytes()`, 64-byte
  /// aligned). Reports `not_finite` for the loss only: gradients are checked once, after the reduction, by `is_finite`.
  step_status gradients(const step_input& in, std::byte* gradient);
  /// Evaluate, predict: loss and outputs.
  step_status run(const step_input& in);
  /// Runs `in` again, kernel by kernel, to the same bits, and looks at all that each one writes: the origin of a loss that is
  /// not finite, or else that of the first gradient that is not. Nothing when all of them are finite, or `cancel` is set.
  /// Train: overwrites `gradient`; other modes pass null. Without what only summaries need. A program that was planned with
  /// `fuse` sees no further than the kernel that operations were fused into.
  std::optional<numeric_fault> find_fault(const step_input& in, std::byte* gradient);
  /// As `gradients` or `run`, to the same bits; after each kernel, by its number, `after` is called: this folder has no clock.
  step_status watch(const step_input& in, std::byte* gradient, const std::function<void(size_t kernel)>& after);
  /// What `bad_input` meant: "label 12 of row 3 is outside [0, 10): loss/sparse_softmax_cross_entropy (model.cpp:7)".
  error last_error() const;

  /// As the free function below, shared by the pool: each thread looks at what it will update.
  bool is_finite(const parameter_layout& layout, std::pair<int64_t, int64_t> slice, const std::byte* gradient) const;
  /// The optimizer's update for bytes [first, last) of the gradient vector, all of which is there, reading variables and slots
  /// from `from` and writing them to `to` (the same base: in place).
  void apply(int64_t step, std::pair<int64_t, int64_t> slice, const std::byte* gradient, const std::byte* from, std::byte* to);

  /// The loss of the last run, unscaled by S, as float64.
  double loss() const noexcept;
  /// A copy of one output of the last run.
  tensor output(int32_t index) const;
  /// Train: what the model records, as graph::impl::summaries lists it without the texts; copies of the last run, which
  /// must have had `record` set. Of an image, only the rows that are kept.
  std::vector<tensor> recorded() const;
  /// Memory of an output of the last run, valid until the next.
  std::span<const std::byte> output_bytes(int32_t index) const noexcept;

  int64_t arena_bytes() const noexcept;
  /// The greatest sum of the bytes that are in use at one time: no arena could be smaller.
  int64_t live_bytes_max() const noexcept;
  /// Kernel calls of one run.
  int64_t kernels() const noexcept;
  /// They, in order.
  std::vector<kernel_facts> describe() const;
  /// Multiply-adds ×2 of one run, forward and backward.
  int64_t flops() const noexcept;
  /// The plan: kernels in order with shapes, offsets and bytes.
  std::string to_text() const;

 private:
  struct impl;
  explicit program(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

// Arithmetic on flat gradients, for whoever sums them: bytes of layout.gradient_bytes(), 64-byte aligned.

/// into += from, element by element, in the dtypes of the layout.
void add_gradient(const parameter_layout& layout, std::byte* into, const std::byte* from);
/// into = a + b, to the same bits as a copy of `a` and then `add_gradient`. `into` is neither, and holds a gradient of this layout
/// or zeros: of rows that are only looked up, those are cleared that it says were touched.
void add_gradients(const parameter_layout& layout, std::byte* into, const std::byte* a, const std::byte* b);
/// Whether every element of bytes [first, last) is finite.
bool is_finite(const parameter_layout& layout, std::pair<int64_t, int64_t> slice, const std::byte* gradient);
/// The first trainable variable with a non-finite element in an arena, or empty: asked before a snapshot is committed.
std::string first_not_finite(const parameter_layout& layout, const std::byte* arena);

}  // namespace troupe
