// The version of this build's arithmetic.
#pragma once

namespace troupe {

/// Incremented whenever the same graph, plan and S yield other bits than before. Written into every checkpoint.
///   1: square roots of packets began with the processor's approximation; functions of float64 were the C library's.
///   2: only operations that IEEE 754 rounds in one way: the same bits on every processor of a CPU level.
inline constexpr int numerics_version = 2;

}  // namespace troupe
