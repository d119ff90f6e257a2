#include "compute/kernels/fused.hpp"

#include <algorithm>
#include <array>

namespace troupe {

void run_fused(const kernel_call& c, run_state& s) {
  const fused_body& body = *c.fused;
  // Copies on the stack, whose operands advance from chunk to chunk.
  std::array<kernel_call, fused_calls_max> calls;
  std::array<walk, fused_calls_max> walks;
  const size_t count = body.calls.size();
  for (size_t p = 0; p < count; ++p) {
    calls[p] = body.calls[p].call;
    walks[p] = body.calls[p].strides;
    calls[p].strides = &walks[p];
  }
  for (int64_t row = 0; row < body.rows; ++row)
    for (int64_t column = 0; column < body.columns; column += fused_chunk) {
      const int64_t n = std::min(fused_chunk, body.columns - column);
      for (size_t p = 0; p < count; ++p) {
        const fused_call& one = body.calls[p];
        for (int o = 0; o < one.operands; ++o)
          calls[p].at[o].offset = one.call.at[o].offset + row * one.step[o].row + column * one.step[o].column;
        calls[p].n[0] = walks[p].extent[0] = n;
        calls[p].run(calls[p], s);
      }
    }
}

}  // namespace troupe
