// Durations that a clock can add to the time of now.
#pragma once

#include <algorithm>
#include <chrono>

namespace troupe {

/// `duration`, limited to 0 and a century.
inline std::chrono::milliseconds bounded(std::chrono::milliseconds duration) {
  using namespace std::chrono_literals;
  return std::clamp<std::chrono::milliseconds>(duration, 0ms, 24h * 365 * 100);
}

}  // namespace troupe
