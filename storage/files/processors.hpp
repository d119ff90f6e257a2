// The processors that this process may use.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace troupe {

/// Those that the scheduler gives it (its affinity), or fewer where a control group limits its time: the quota, in whole processors. At
/// least 1. Asked anew at each call, as both may change.
int32_t usable_processors();

/// The same for `affinity` processors and the control groups that `groups` names, the text of /proc/self/cgroup. `read` returns the text
/// of a file under /sys/fs/cgroup; nothing if it cannot be read.
int32_t usable_processors(int32_t affinity, const std::string& groups, const std::function<std::optional<std::string>(const std::string& path)>& read);

}  // namespace troupe
