// Counts the threads of this process, since an ended job must leave none.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <thread>

namespace troupe::test {

inline int64_t threads() {
  const std::filesystem::directory_iterator tasks{"/proc/self/task"};
  return std::distance(std::filesystem::begin(tasks), std::filesystem::end(tasks));
}

/// Waits, since the system needs a moment to remove a thread that has returned.
inline bool threads_fall_to(int64_t count) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{60};
  while (threads() > count && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  return threads() <= count;
}

}  // namespace troupe::test
