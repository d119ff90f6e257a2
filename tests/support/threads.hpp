// Counts the threads of this process, since an ended job must leave none.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <thread>

namespace troupe::test {

inline int64_t threads() {
  const std::filesystem::directory_iterator tasks{"/proc/self/task"};
  return std::distance(std::filesystem::begin(tasks), std::filesystem::end(tasks));
}

inline std::set<std::string> thread_ids() {
  std::set<std::string> ids;
  for (const auto& task : std::filesystem::directory_iterator{"/proc/self/task"})
    ids.insert(task.path().filename());
  return ids;
}

/// Whether every thread of now was there before. One that had returned then may be removed meanwhile.
inline bool no_thread_since(const std::set<std::string>& before) {
  const auto now = thread_ids();
  return std::includes(before.begin(), before.end(), now.begin(), now.end());
}

/// Waits, since the system needs a moment to remove a thread that has returned.
inline bool threads_fall_to(int64_t count) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{60};
  while (threads() > count && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  return threads() <= count;
}

}  // namespace troupe::test
