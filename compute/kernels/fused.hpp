// Element-wise kernels that run one after the other over the same chunk of their operands, while it is in the
// first-level cache.
//
// The loop is seen as [rows, columns]. An operand advances by a stride from row to row, and by 0 or one element from
// column to column. A chunk is at most `fused_chunk` columns of one row. Values internal to the body are in scratch
// memory of one chunk. Every kernel treats a chunk exactly as it would the whole, so the bits are the same.
#pragma once

#include "compute/kernels/kernel.hpp"

#include <vector>

namespace troupe {

constexpr int64_t fused_chunk = 1024;
constexpr int fused_calls_max = 24;
/// The extents along which the loop can be divided among threads.
enum fused_extent { fused_rows, fused_columns };

struct fused_call {
  kernel_call call;  ///< With the operands of the first chunk.
  int operands = 0;  ///< Including the output.
  struct {
    int64_t row = 0, column = 0;  ///< In bytes.
  } step[4];
  walk strides;  ///< A single loop, in elements.
};

struct fused_body {
  int64_t rows = 0, columns = 0;
  std::vector<fused_call> calls;
};

void run_fused(const kernel_call& c, run_state& s);

}  // namespace troupe
