// The walk of element-wise operations over operands that broadcast.
#pragma once

#include "compute/planner/plan.hpp"

namespace troupe {

/// Numpy's rule; nothing when the shapes do not fit.
std::optional<symbol_shape> broadcast(const symbol_shape& a, const symbol_shape& b);
/// Loops over `out`, merged where they can be; operands that are stretched have stride 0.
walk make_walk(const shape& out, const shape& a, const shape& b);

/// f(out index, a index, b index, count, stride a, stride b) for each innermost loop.
template <class F>
void for_each_run(const walk& w, F f) {
  int64_t at[8] = {};
  int64_t out = 0, a = 0, b = 0;
  const int last = w.rank - 1;
  const int64_t n = w.extent[last];
  for (;;) {
    f(out, a, b, n, w.stride_a[last], w.stride_b[last]);
    out += n;
    int d = last - 1;
    for (; d >= 0; --d) {
      a += w.stride_a[d];
      b += w.stride_b[d];
      if (++at[d] < w.extent[d])
        break;
      a -= w.stride_a[d] * w.extent[d];
      b -= w.stride_b[d] * w.extent[d];
      at[d] = 0;
    }
    if (d < 0)
      return;
  }
}

}  // namespace troupe
