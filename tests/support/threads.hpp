// How many threads this process has: what ends must leave none behind.
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

/// The system takes a moment to clear a thread away that has returned.
inline bool threads_fall_to(int64_t count) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::seconds{60};
  while (threads() > count && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  return threads() <= count;
}

}  // namespace troupe::test
