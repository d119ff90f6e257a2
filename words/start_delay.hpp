// By how much the processes of a cluster begin later than their chief.
#pragma once

#include <algorithm>
#include <cstdint>

namespace troupe {

/// Of task `task`, of which 0 is the first after the chief, so that not all of them begin at once.
constexpr double start_delay_secs(int64_t task, double secs_of_each, double secs_max) noexcept {
  return std::min((static_cast<double>(task) + 1) * secs_of_each, secs_max);
}

}  // namespace troupe
