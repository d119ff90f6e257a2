// An event file of scalars in memory.
#pragma once

#include "storage/events/event_log.hpp"
#include "storage/files/memory_file_system.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

inline constexpr double logged_at = 1'700'000'000.25;

inline std::unique_ptr<event_log_writer> open_log(std::shared_ptr<file_system> fs, double wall_time = logged_at,
                                                  const std::string& host = "node") {
  auto log = event_log_writer::create(std::move(fs), "/m", {.host = host, .wall_time = wall_time});
  REQUIRE_MESSAGE(log, (log ? "" : to_text(log.error())));
  return std::move(*log);
}

inline log_event scalar_at(int64_t step, double value) {
  return {
      .wall_time = logged_at + static_cast<double>(step), .step = step, .values = {{.tag = "loss", .scalar = value}}};
}

/// The bytes of a file with the version and `events` scalar events.
inline std::string file_of(int64_t events) {
  auto fs = memory_file_system();
  auto log = open_log(fs);
  for (int64_t step = 1; step <= events; ++step)
    REQUIRE(log->add(scalar_at(step, 0.5 * static_cast<double>(step))));
  REQUIRE(log->close());
  return *read_file(*fs, log->path());
}

inline std::vector<std::string> names_of(file_system& fs) {
  std::vector<std::string> names;
  const auto paths = list_event_logs(fs, "/m");
  REQUIRE(paths);
  for (const auto& path : *paths)
    names.push_back(path.substr(path.rfind('/') + 1));
  return names;
}

inline constexpr int64_t version_record_bytes = 12 + 9 + 2 + 13 + 4;  // wall_time, then the version's 13 characters.

}  // namespace troupe::test
