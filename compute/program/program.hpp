// A program: the planned, allocation-free executable of one graph for one binding of its unknowns.
//
//   auto p = program::make(graph, spec, layout, {.batch = 128, .seed = 1});
//   // Forward and backward: the flat gradient of one shard.
//   auto status = p->gradients({...});
//   // The fused update, in place or into a spare arena.
//   p->apply(step, {0, layout.gradient_bytes()}, gradient, base, base);
//
// Planning lowers the graph (and, to train, its gradients) to a list of kernels over base + offset. One arena holds all
// intermediate values, placed by liveness. Element-wise operations are fused and run in place; bias, activation and
// softmax cross-entropy are fused too; the workspace of matrix products is planned. Running takes no lock and allocates
// nothing.
// One program runs on one thread at a time, which may have helper threads. Programs do not share memory, but may share
// a pool when they run in turn.
#pragma once

#include "compute/parameters/flat_gradient.hpp"
#include "compute/planner/program_options.hpp"
#include "compute/program/numeric_fault.hpp"
#include "compute/program/program_output.hpp"
#include "compute/program/thread_pool.hpp"
#include "words/step_status.hpp"

#include <troupe/dataset.hpp>
#include <troupe/model.hpp>

#include <atomic>

namespace troupe {

/// The inputs of one run.
struct step_input {
  int64_t step = 0;                       ///< Absolute step; keys random numbers.
  int32_t shard = 0;                      ///< In [0, S); keys random numbers.
  const std::byte* parameters = nullptr;  ///< Base of the arena with variables and slots.
  const std::byte* shared = nullptr;      ///< Base of the part that no step updates.
  /// One pointer for each component, in the order of `inputs()`, then one for each carried state of the graph, in its
  /// order. Memory that is not 64-byte aligned is copied first.
  std::span<const std::byte* const> feeds;
  recording_set record = 0;                   ///< Also computes what only these need.
  const std::atomic<bool>* cancel = nullptr;  ///< Checked between kernels. When it is set, the run ends as `cancelled`.
};

class program {
 public:
  /// Plans a program. invalid_argument for an error kept in the graph, a variable that the layout lacks or has in
  /// another shape, or an unbound unknown.
  static expected<std::unique_ptr<program>> make(const graph& g, const model_spec& spec, const parameter_layout& layout,
                                                 const program_options& options);
  /// To train: makes a program that computes, by `run`, only the loss and the exposed predictions, with the bits of the
  /// whole program. It has no gradients, no update and no summaries.
  static expected<std::unique_ptr<program>> make_forward(const graph& g, const model_spec& spec,
                                                         const parameter_layout& layout,
                                                         const program_options& options);
  ~program();

  /// The fed components, in feed order, with the names of their placeholders.
  std::span<const component> inputs() const noexcept;
  /// Describes what `output` returns: the loss, then the sums of each metric by name, or predictions by name, then
  /// exposed predictions, then what the states of the graph carry to the next step, in its order.
  std::span<const program_output> outputs() const noexcept;

  /// Train: computes loss, outputs and the gradient of one shard, which it writes to `gradient`
  /// (`layout.gradient_bytes()`, 64-byte aligned). Reports `not_finite` for the loss only: gradients are checked once,
  /// after the reduction, by `is_finite`.
  step_status gradients(const step_input& in, std::byte* gradient);
  /// Evaluate, predict, or made by `make_forward`: computes loss and outputs.
  step_status run(const step_input& in);
  /// Runs `in` again, kernel by kernel, to the same bits, and examines everything that each kernel writes. Returns the
  /// origin of a non-finite loss, or else that of the first non-finite gradient; nothing when all of them are finite,
  /// or `cancel` is set. Train: overwrites `gradient`; other modes pass null. Skips what only summaries need. In a
  /// program made with `fuse`, the result names a fused kernel, not the operation inside it.
  std::optional<numeric_fault> find_fault(const step_input& in, std::byte* gradient);
  /// Like `gradients` or `run`, with the same bits, but calls `after(kernel)` after each kernel, so that the caller can
  /// measure times: this folder has no clock.
  step_status watch(const step_input& in, std::byte* gradient, const std::function<void(size_t kernel)>& after);
  /// The error behind `bad_input`, such as "label 12 of row 3 is outside [0, 10): loss/sparse_softmax_cross_entropy
  /// (model.cpp:7)".
  error last_error() const;

  /// Like the free function `is_finite`, but divided among the pool: each thread checks the part that it will update.
  bool is_finite(const parameter_layout& layout, std::pair<int64_t, int64_t> slice, const std::byte* gradient) const;
  /// Train: sums of squares that clipping by norm needs, and how many (planned_update.hpp); without them nothing is
  /// measured. Programs that apply slices of one update each measure theirs.
  int64_t norm_chunks() const noexcept;
  void measure(std::pair<int64_t, int64_t> slice, gradient_view gradient, std::span<double> squares) const;
  /// Applies the optimizer's update for bytes [slice) of the gradient vector, which must be complete. Reads variables
  /// and slots from `from` and writes them to `to` (the same base: in place). `rate_factor` multiplies the learning
  /// rate of every rule. `squares`: of the whole gradient vector; empty: they are measured here.
  void apply(int64_t step, std::pair<int64_t, int64_t> slice, const std::byte* gradient, const std::byte* from,
             std::byte* to, double rate_factor = 1, std::span<const double> squares = {});

  /// The loss of the last run, unscaled by S, as float64.
  double loss() const noexcept;
  /// A copy of one output of the last run.
  tensor output(int32_t index) const;
  /// Train: the values that the model records, in the order of graph_contents::summaries without the texts; copies from
  /// the last run, which must have recorded `record_values`. An image has only the rows that are kept.
  std::vector<tensor> recorded() const;
  /// Train: the observed values, in the order of graph_contents::observed, under the same condition.
  std::vector<tensor> observed() const;
  /// Train: the sums of the metrics, in the order of the metrics' names. `program_options::measure` says whether every
  /// run computes them, or only a run that records. `measured_at`: the memory of one sum after such a run, valid until
  /// the next.
  std::span<const program_output> measured() const noexcept;
  /// The tensors of host calls, call after call, in the order of graph_contents::host_calls; none if made by
  /// `make_forward`. `called_bytes`: of call number `call`, after a run that recorded it, valid until the next.
  std::span<const program_output> called() const noexcept;
  std::span<const std::byte> called_bytes(size_t call, size_t tensor) const noexcept;
  const std::byte* measured_at(int32_t index) const noexcept;
  /// Memory of an output of the last run, valid until the next.
  std::span<const std::byte> output_bytes(int32_t index) const noexcept;

  int64_t arena_bytes() const noexcept;
  /// The largest total size of the values in use at one time. No arena could be smaller.
  int64_t live_bytes_max() const noexcept;
  /// Kernel calls of one run.
  int64_t kernels() const noexcept;
  /// Describes the kernel calls, in order.
  std::vector<kernel_facts> describe() const;
  /// Multiply-adds ×2 of one run, forward and backward.
  int64_t flops() const noexcept;
  /// Estimated work of a run that records nothing, roughly in nanoseconds of one thread: a function of the program
  /// alone.
  int64_t work() const noexcept;
  /// The threads that share a run, the caller's included.
  int threads() const noexcept;
  /// The kernels in order with shapes, offsets and bytes.
  std::string to_text() const;

 private:
  struct impl;
  static expected<std::unique_ptr<program>> make_program(const graph& g, const model_spec& spec,
                                                         const parameter_layout& layout, const program_options& options,
                                                         bool forward_only);
  explicit program(std::unique_ptr<impl> i);
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe
