#include "storage/files/processors.hpp"

#include <sched.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

namespace troupe {

namespace {

using file_reader = std::function<std::optional<std::string>(const std::string& path)>;

constexpr int32_t processors_max = 1024;

std::optional<std::string> text_of_file(const std::string& path) {
  std::ifstream in{path};
  std::ostringstream text;
  text << in.rdbuf();
  return in && !text.str().empty() ? std::optional{text.str()} : std::nullopt;
}

int32_t affinity() {
  cpu_set_t set;  // Has room for 1024 processors; the call fails on a machine with more.
  return ::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : processors_max;
}

/// The number of processors that a group may use; absent if it has no limit ("max", -1).
std::optional<double> limit_of(const std::string& folder, bool unified, const file_reader& read) {
  const auto text = unified ? read(folder + "/cpu.max") : read(folder + "/cpu.cfs_quota_us");
  if (!text)
    return {};
  std::istringstream in{*text};
  double quota = 0, period = 0;
  if (!(in >> quota) || quota <= 0)
    return {};
  if (!unified) {
    const auto other = read(folder + "/cpu.cfs_period_us");
    in = std::istringstream{other.value_or("")};
  }
  return in >> period && period > 0 ? std::optional{quota / period} : std::nullopt;
}

/// The group that a line names, and the folder of its hierarchy. For example "0::/a/b" of cgroup version 2, or
/// "4:cpu,cpuacct:/a/b" of version 1. Absent for lines of other controllers.
struct group_place {
  std::string root, group;
  bool unified;
};
std::optional<group_place> place_of(const std::string& line) {
  const auto first = line.find(':'), second = line.find(':', first + 1);
  if (first == std::string::npos || second == std::string::npos)
    return {};
  const auto controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
  if (controllers.empty())
    return group_place{"/sys/fs/cgroup", group, true};
  if (("," + controllers + ",").find(",cpu,") == std::string::npos)
    return {};
  return group_place{"/sys/fs/cgroup/" + controllers, group, false};
}

}  // namespace

int32_t usable_processors(int32_t affinity, const std::string& groups, const file_reader& read) {
  double most = std::clamp(affinity, 1, processors_max);
  std::istringstream lines{groups};
  for (std::string line; std::getline(lines, line);)
    if (auto at = place_of(line))
      // The limits of all parent groups apply too. In a container the path may be that of the host, of which only the
      // root is visible.
      for (;;) {
        while (at->group.ends_with('/'))
          at->group.pop_back();
        if (const auto limit = limit_of(at->root + at->group, at->unified, read))
          most = std::min(most, *limit);
        if (at->group.empty())
          break;
        at->group.resize(std::min(at->group.rfind('/'), at->group.size() - 1));
      }
  return std::max(1, static_cast<int32_t>(std::floor(most)));
}

int32_t usable_processors() {
  return usable_processors(affinity(), text_of_file("/proc/self/cgroup").value_or(""), text_of_file);
}

}  // namespace troupe
