// Walks: loops over an output with broadcast, transposed or sliced operands, merged into as few loops as possible.
#pragma once

#include "compute/operations/lowering.hpp"

namespace troupe {

/// Shares of an element-wise loop begin at multiples of this, which are also boundaries of vectors, cache lines and
/// blocks of random numbers.
inline constexpr int64_t elements_chunk = 1024;

/// The shape to which both are broadcast, by numpy's rule; nothing when they do not fit.
std::optional<symbol_shape> broadcast(const symbol_shape& a, const symbol_shape& b);

using strides = std::vector<int64_t>;
/// Strides of a row-major operand, in elements.
strides row_major(const shape& operand);
/// Strides of a row-major operand broadcast to `out`: 0 where it has one element for many.
strides stretched(const shape& out, const shape& operand);
/// Loops over `out` with the strides of up to three operands: one stride for each axis of `out`.
walk make_walk(const shape& out, std::initializer_list<strides> operands);

/// Makes the kernel call of `l` follow a copy of `w` that the plan owns. Its shares are rows of the outermost loop. Its
/// operands are the inputs and then the output.
void lower_walk(lowering& l, const walk& w);

/// One innermost loop: n elements of the output, starting at `out`; each operand starts at `at` with its `stride`.
struct inner_loop {
  int64_t out = 0, n = 0;
  int64_t at[walk::operands_max] = {};
  int64_t stride[walk::operands_max] = {};
};

/// Calls f(const inner_loop&) for each innermost loop, in the order of the output.
template <class F>
void for_each_inner_loop(const walk& w, F f) {
  const int last = w.rank - 1;
  inner_loop r;
  r.n = w.extent[last];
  for (int i = 0; i < walk::operands_max; ++i)
    r.stride[i] = w.stride[i][last];
  int64_t at[8] = {};
  for (;;) {
    f(static_cast<const inner_loop&>(r));
    r.out += r.n;
    int d = last - 1;
    for (; d >= 0; --d) {
      for (int i = 0; i < walk::operands_max; ++i)
        r.at[i] += w.stride[i][d];
      if (++at[d] < w.extent[d])
        break;
      for (int i = 0; i < walk::operands_max; ++i)
        r.at[i] -= w.stride[i][d] * w.extent[d];
      at[d] = 0;
    }
    if (d < 0)
      return;
  }
}

}  // namespace troupe
