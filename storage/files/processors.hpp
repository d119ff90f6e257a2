// The number of processors that this process may use.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace troupe {

/// The number of processors in the process's affinity, or the quota of its control groups in whole processors if that
/// is less. At least 1. Computed at each call, since both may change.
int32_t usable_processors();

/// The same for given inputs: `affinity` is the number of processors, `groups` the text of /proc/self/cgroup. `read`
/// returns the text of a file under /sys/fs/cgroup; absent if it cannot be read.
int32_t usable_processors(int32_t affinity, const std::string& groups,
                          const std::function<std::optional<std::string>(const std::string& path)>& read);

}  // namespace troupe
