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
  /// Threads that share the kernels; null: only the one that runs the program. The bits are the same for every number of them.
  std::shared_ptr<thread_pool> pool = nullptr;
  /// The least work worth a thread of the pool, in about nanoseconds of one thread.
  int64_t least_work = 4000;
  std::vector<std::string> expose = {};  ///< To train: predictions that are outputs too, for other programs to read; after the others.
  measuring measure = measuring::never;
  bool recompute = false;  ///< To train: rematerialisation where it takes less memory; the bits are the same.
};

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
