// Options for planning a program, and the description of its kernel calls.
#pragma once

#include "compute/kernels/recording.hpp"

#include <troupe/tensor.hpp>

#include <memory>
#include <string>
#include <vector>

namespace troupe {

class thread_pool;

/// Train: when the sums of the model's metrics are computed.
enum class measuring : uint8_t {
  never,
  when_recording,  ///< In runs that record.
  always,
};

struct program_options {
  int64_t batch = 1;   ///< Rows of the shard that this program computes: the unknown "batch".
  int32_t shards = 1;  ///< S: with `reduction::mean` the loss is scaled by 1/S before differentiation.
  uint64_t seed = 0;   ///< Seed of the keyed random operations.
  bool fuse = true;    ///< Element-wise operations over the same elements become one kernel; the bits are the same.
  bool eliminate_common_calls = true;  ///< Common subexpression elimination; the bits are the same.
  bool elide = true;  ///< Copy elision for contiguous slices and concatenations; the bits are the same.
  /// The threads that share the kernels, started as the plan needs them; null: only the thread that runs the program.
  /// The bits do not depend on the number of threads.
  std::shared_ptr<thread_pool> pool = nullptr;
  /// Short runs use fewer threads than the pool has: one for each `work_a_thread` of a run's estimated work, roughly in
  /// nanoseconds of one thread. 0: always all threads.
  int64_t work_a_thread = 0;
  /// The least work of a call that is worth a thread of the pool, roughly in nanoseconds of one thread.
  int64_t least_work = 4000;
  /// Train: predictions that are also outputs, after the others, for other programs to read.
  std::vector<std::string> expose = {};
  measuring measure = measuring::never;
  bool recompute = false;  ///< Train: rematerialisation where it takes less memory; the bits are the same.
};

/// `program_options::work_a_thread` if the user has not chosen a number of threads. A run of less than twice this work
/// is computed by one thread: two threads synchronise once for each kernel, some twenty times in a step of a dense
/// network. Each time costs about a microsecond and, once in a while, as long as the system lets another program have
/// the processor.
inline constexpr int64_t automatic_work_a_thread = 200'000;

/// The number of threads for a run of estimated `work`: one for each `work_a_thread`, at least 1, at most `threads`.
constexpr int threads_for(int64_t work, int64_t work_a_thread, int threads) noexcept {
  return work_a_thread > 0 && work / work_a_thread < threads
             ? static_cast<int>(work / work_a_thread > 1 ? work / work_a_thread : 1)
             : threads;
}

/// Describes one kernel call of a program, for people.
struct kernel_facts {
  struct buffer {
    std::string name;  ///< The node whose value it holds.
    dtype type = dtype::float32;
    shape dims;
    std::string where;  ///< "arena+64", "parameters+0", "feed 1"
    int64_t bytes() const { return dims.elements() * size_of(type); }
  };
  std::string title;  ///< "matmul +bias +relu", "fused: exp, square"
  std::vector<buffer> reads, writes;
  int64_t workspace_bytes = 0, workspace_offset = -1;
  int64_t flops = 0;            ///< Multiply-adds × 2 in products and convolutions; else 0.
  recording_set recording = 0;  ///< Called only in runs that record one of these; 0: in every run.
};

}  // namespace troupe
