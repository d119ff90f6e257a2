// Reads all events of a file into memory, for tests that look at each.
#pragma once

#include "storage/events/event_log.hpp"

namespace troupe {

struct whole_event_log {
  std::vector<log_event> events;
  int64_t bytes_read = 0;
  bool truncated = false;
  std::optional<error> damage;
};

inline expected<whole_event_log> read_whole_log(file_system& files, const std::string& path) {
  whole_event_log log;
  auto reading = read_event_log(files, path, [&log](log_event e) { log.events.push_back(std::move(e)); });
  if (!reading)
    return fail(std::move(reading.error()));
  log.bytes_read = reading->bytes_read;
  log.truncated = reading->truncated;
  log.damage = std::move(reading->damage);
  return log;
}

}  // namespace troupe
