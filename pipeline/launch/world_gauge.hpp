// Sizes that have to stay within bounds in a simulated world.
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace troupe {

/// Maxima over all turns so far: messages that waited for a node, by its name, and entries of the clock.
struct world_gauge {
  std::map<std::string, size_t> fullest_mailboxes;
  size_t timers = 0;                ///< The most pending entries of the clock.
  size_t timers_beyond_actors = 0;  ///< The most pending entries beyond one for each node.
};

}  // namespace troupe
