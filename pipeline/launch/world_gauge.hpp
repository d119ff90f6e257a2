// Sizes that must stay bounded in a simulated world.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace troupe {

/// Maxima over all turns so far: of the messages in each node's mailbox, by name, and of the clock's pending entries.
struct world_gauge {
  std::map<std::string, size_t> fullest_mailboxes;
  size_t timers = 0;                ///< The greatest number of entries that were pending in the clock.
  size_t timers_beyond_actors = 0;  ///< The same, less one for each node.
};

}  // namespace troupe
