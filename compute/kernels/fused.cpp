#include "compute/kernels/fused.hpp"

#include <algorithm>
#include <array>

namespace troupe {

void run_fused(const kernel_call& c, run_state& s) {
  const fused_body& body = *c.fused;
  // Copies on the stack, whose operands advance from chunk to chunk.
  std::array<kernel_call, fused_parts_max> calls;
  std::array<walk, fused_parts_max> walks;
  const size_t count = body.parts.size();
  for (size_t p = 0; p < count; ++p) {
    calls[p] = body.parts[p].call;
    walks[p] = body.parts[p].strides;
    calls[p].strides = &walks[p];
  }
  for (int64_t row = 0; row < body.rows; ++row)
    for (int64_t column = 0; column < body.columns; column += fused_piece) {
      const int64_t n = std::min(fused_piece, body.columns - column);
      for (size_t p = 0; p < count; ++p) {
        const fused_part& part = body.parts[p];
        for (int o = 0; o < part.operands; ++o)
          calls[p].at[o].offset = part.call.at[o].offset + row * part.step[o].row + column * part.step[o].column;
        calls[p].n[0] = walks[p].extent[0] = n;
        calls[p].run(calls[p], s);
      }
    }
}

}  // namespace troupe
