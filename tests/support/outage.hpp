// Data that cannot be read for some time.
#pragma once

#include "support/troubled_dataset.hpp"

#include <chrono>

namespace troupe::test {

/// Begins at read number `from`, counted from 0 over all readers, and lasts for the time `lasts` on the clock `now`.
struct outage {
  int64_t from = 0;
  std::chrono::nanoseconds lasts{};
  std::function<std::chrono::nanoseconds()> now;
  int64_t reads = 0, refused = 0;
  std::optional<std::chrono::nanoseconds> since = {};

  expected<void> meet() {
    if (reads++ < from)
      return {};
    if (!since)
      since = now();
    if (now() - *since >= lasts)
      return {};
    ++refused;
    return fail(errc::unavailable, "the file server does not answer");
  }
};

inline dataset away(const dataset& well, std::shared_ptr<outage> o) {
  return dataset{std::make_shared<troubled_stage>(well.last_stage(), -1, [o = std::move(o)] { return o->meet(); })};
}

}  // namespace troupe::test
