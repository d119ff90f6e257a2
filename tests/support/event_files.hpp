// Reads the event files of a directory.
#pragma once

#include "tests/support/whole_event_log.hpp"

#include <doctest/doctest.h>

namespace troupe::test {

/// The events of all files, in the order of the files; each file must be undamaged, unless a loss of power may have
/// torn its end.
inline std::vector<log_event> events_in(file_system& files, const std::string& directory, bool may_be_torn = false) {
  std::vector<log_event> all;
  const auto paths = list_event_logs(files, directory);
  REQUIRE(paths);
  for (const auto& path : *paths) {
    auto log = read_whole_log(files, path);
    REQUIRE(log);
    if (!may_be_torn) {
      CHECK_FALSE(log->damage);
      CHECK_FALSE(log->truncated);
    }
    all.insert(all.end(), log->events.begin(), log->events.end());
  }
  return all;
}

}  // namespace troupe::test
