// Options for planning a program, and the description of its kernel calls.
#pragma once

#include <troupe/tensor.hpp>

#include <memory>
#include <string>
#include <vector>

namespace troupe {

class thread_pool;

/// To train: when the sums of the model's metrics are computed.
enum class measuring : uint8_t {
  never,
  when_recording,  ///< In runs that record.
  always,
};

struct program_options {
  int64_t batch = 1;       ///< Rows of the shard that this program computes: the unknown "batch".
  int32_t shards = 1;      ///< S: the loss is scaled by 1/S before differentiation (MEAN over shards).
  uint64_t seed = 0;       ///< Seed of the keyed random operations.
  bool fuse = true;        ///< Element-wise operations over the same elements become one kernel; the bits are the same.
  bool share = true;       ///< Common subexpression elimination; the bits are the same.
  bool elide = true;       ///< Copy elision for contiguous slices and concatenations; the bits are the same.
  /// Threads that share the kernels, which are started as the plan needs them; null: only the one that runs the program. The bits are
  /// the same for every number of them.
  std::shared_ptr<thread_pool> pool = nullptr;
  /// Fewer threads than the pool's where a run is short: one for each so much of its estimated work, in about nanoseconds of one
  /// thread; 0: all of them.
  int64_t work_a_thread = 0;
  /// The least work worth a thread of the pool, in about nanoseconds of one thread.
  int64_t least_work = 4000;
  std::vector<std::string> expose = {};  ///< To train: predictions that are outputs too, for other programs to read; after the others.
  measuring measure = measuring::never;
  bool recompute = false;  ///< To train: rematerialisation where it takes less memory; the bits are the same.
};

/// `program_options::work_a_thread` where nobody has chosen a number of threads. A run of less than twice as much is computed by one: two
/// threads meet once for each kernel, some twenty times in a step of a dense network, and each meeting costs about a microsecond and, once
/// in a while, as long as the system lets another program have the processor.
inline constexpr int64_t automatic_work_a_thread = 200'000;

/// The threads that share a run of so much estimated work, `work_a_thread` each, `threads` at most.
constexpr int threads_for(int64_t work, int64_t work_a_thread, int threads) noexcept {
  return work_a_thread > 0 && work / work_a_thread < threads ? static_cast<int>(work / work_a_thread > 1 ? work / work_a_thread : 1) : threads;
}

/// One kernel call of a program, for people.
struct kernel_facts {
  struct buffer {
    std::string name;            ///< The node whose value it yields.
    dtype type = dtype::float32;
    shape dims;
    std::string where;           ///< "arena+64", "parameters+0", "feed 1"
    int64_t bytes() const { return dims.elements() * size_of(type); }
  };
  std::string title;             ///< "matmul +bias +relu", "fused: exp, square"
  std::vector<buffer> reads, writes;
  int64_t workspace_bytes = 0, workspace_offset = -1;
  int64_t flops = 0;             ///< Multiply-adds × 2 in products and convolutions; else 0.
  bool recording = false;        ///< For summaries only.
};

}  // namespace troupe
