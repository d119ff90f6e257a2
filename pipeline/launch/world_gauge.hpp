// What has to stay within bounds while a simulated world turns.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace troupe {

/// Of all turns so far: the most messages that ever waited for a node, by its name, and what the clock held.
struct world_gauge {
  std::map<std::string, size_t> fullest_mailboxes;
  size_t timers = 0;                ///< The most pending entries of the clock.
  size_t timers_beyond_actors = 0;  ///< The most of them beyond one for each node that was alive.
};

}  // namespace troupe
