// The outcome of a step.
#pragma once

#include <cstdint>

namespace troupe {

/// Failures of a step; flags, OR-ed over replicas.
enum class step_status : uint32_t { ok = 0, not_finite = 1, cancelled = 2, ended = 4, bad_input = 8 };
constexpr step_status operator|(step_status a, step_status b) { return static_cast<step_status>(static_cast<uint32_t>(a) | static_cast<uint32_t>(b)); }
constexpr bool has(step_status all, step_status one) { return (static_cast<uint32_t>(all) & static_cast<uint32_t>(one)) != 0; }

}  // namespace troupe
