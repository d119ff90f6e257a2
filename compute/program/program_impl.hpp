// The state of a program: the kernel calls, the arena, and the places of inputs and outputs.
#pragma once

#include "compute/parameters/parameter_store.hpp"
#include "compute/planner/program_draft.hpp"
#include "compute/program/planned_update.hpp"
#include "compute/program/program.hpp"
#include "words/buffer_pool.hpp"

namespace troupe {

/// Whether a run that records `recorded` makes this call.
inline bool is_called(const kernel_call& c, recording_set recorded) {
  return c.recording == 0 || (c.recording & recorded) != 0;
}

struct program::impl {
  program_draft draft;
  std::vector<kernel_call> calls;                 ///< Each call of the draft: the whole, or its first share.
  std::vector<kernel_call> others;                ///< The other shares, call after call.
  std::vector<std::pair<size_t, int>> others_of;  ///< By call: its first other share, and their number.
  std::shared_ptr<thread_pool> pool;
  int64_t share_bytes = 0;        ///< The fewest bytes of the gradient that are worth a thread.
  std::vector<run_state> states;  ///< One for each thread that shares calls.
  std::shared_ptr<std::byte> arena;
  std::vector<std::byte*> bases;
  std::vector<component> inputs;
  std::vector<program_output> outputs;
  std::vector<int32_t> kept;       ///< The value that holds each output.
  mutable buffer_pool copies{16};  ///< Buffers for copies of outputs and recorded values.
  struct recorded_output {
    int32_t value = -1;
    int64_t rows_max = 0;
  };  ///< `rows_max`: rows that are kept; 0: all.
  std::vector<recorded_output> for_summaries, observed;
  std::vector<int32_t> measured;  ///< The values of the sums of metrics, while training.
  std::vector<program_output> measured_outputs;
  recording_set recorded = 0;                ///< Of the last run.
  std::vector<std::vector<int32_t>> called;  ///< The values of the tensors of each host call.
  std::vector<program_output> called_outputs;
  struct feed {
    int64_t bytes = 0, copy_offset = -1;
  };
  std::vector<feed> feeds;
  /// Ranges of the gradient vector that no kernel writes: padding, and variables that the graph does not have.
  std::vector<std::pair<int64_t, int64_t>> gaps;
  struct sent {
    int64_t offset, bytes;  ///< Where its gradient or assigned value is in the gradient vector.
    std::string name;
    bool assigned;
  };
  std::vector<sent> gradients;
  bool trains = false, has_loss = false;
  dtype loss_type = dtype::float32;
  operand loss_at;
  int64_t flops = 0;
  planned_update update;
  std::vector<double> squares;  ///< For its norms, unless they are given.
  run_state last;

  expected<void> prepare(const graph_contents& g, std::vector<program_output> named, std::vector<int32_t> values,
                         const parameter_layout& layout, bool predicts, bool trains_);
  /// Sets the memory of inputs and results for a run.
  void bind(const step_input& in, std::byte* gradient);
  /// Copies of values of the last run, which must have recorded.
  std::vector<tensor> copy(const std::vector<recorded_output>& wanted) const;
  /// Runs one call on all threads that share it.
  void compute(size_t call);
  /// Calls f(first, last) for parts of a slice of the gradient, on as many threads as pay for its size.
  template <class F>
  void share_out(std::pair<int64_t, int64_t> slice, F f) const {
    constexpr int64_t line = 64;
    const int64_t lines = (slice.second - slice.first + line - 1) / line;
    const auto shares = pool ? std::clamp<int64_t>(lines * line / share_bytes, 1, draft.threads) : 1;
    if (shares == 1)
      return f(slice.first, slice.second);
    pool->run(static_cast<int>(shares), [&](int share) {
      f(slice.first + lines * share / shares * line,
        std::min(slice.first + lines * (share + 1) / shares * line, slice.second));
    });
  }
  step_status run(const step_input& in, std::byte* gradient);
  /// After the last kernel: zeroes the gaps, and returns the status of the run.
  step_status end(std::byte* gradient);
  std::optional<numeric_fault> find_fault(const step_input& in, std::byte* gradient);
  double loss() const;
  const std::byte* address(operand at) const { return bases[static_cast<size_t>(at.base)] + at.offset; }
};

}  // namespace troupe
