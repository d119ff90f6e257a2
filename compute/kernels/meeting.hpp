// Matches kernel elements with the pixels that they meet. Compiled for each CPU level, so all of it has internal
// linkage.
#pragma once

#include "compute/kernels/convolution.hpp"

namespace troupe {
namespace {

/// On one axis: the kernel elements that a window sees, and the pixels that they meet. Each of
/// the two sequences has a constant step of its own.
struct meeting {
  int64_t tap = 0, tap_step = 1, count = 0, source = 0, source_step = 0;
};

/// Considers the elements [first, end) of the kernel, with the window at `at`.
[[maybe_unused]] inline meeting meeting_of(const image_windows::axis& a, int64_t extent, int64_t at, int64_t first,
                                           int64_t end) {
  meeting m;
  for (int64_t tap = first; tap < end; ++tap) {
    const int64_t source = at * a.stride + tap * a.dilation - a.pad;
    if (source < 0 || source % a.between != 0 || source / a.between >= extent)
      continue;
    if (m.count == 0) {
      m.tap = tap;
      m.source = source / a.between;
    } else if (m.count == 1) {
      m.tap_step = tap - m.tap;
      m.source_step = source / a.between - m.source;
    }
    ++m.count;
  }
  return m;
}

}  // namespace
}  // namespace troupe
