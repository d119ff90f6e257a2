// What a run of a program computes beside loss, outputs and gradients.
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe {

/// A set of the bits below.
using recording_set = uint32_t;
/// Summaries, observed values, and metrics that are measured `when_recording`.
inline constexpr recording_set record_values = 1;
/// The tensors of the graph's host call number `call`, below `host_calls_max`.
constexpr recording_set record_call(size_t call) { return recording_set{2} << call; }

}  // namespace troupe
