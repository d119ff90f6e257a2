// The version of this build's arithmetic.
#pragma once

namespace troupe {

/// Incremented whenever the same graph, plan and S yield other bits than before. Written into every checkpoint.
///   1: square roots of packets began with the processor's approximation; functions of float64 were the C library's.
///   2: only operations that IEEE 754 rounds in one way: the same bits on every processor of a CPU level.
///   3: quotients by constants and means are divisions; long sums are added in blocks; cross-entropies do not cancel.
inline constexpr int numerics_version = 3;

}  // namespace troupe
