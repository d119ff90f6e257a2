// The books of an attempt: what the chief knows that is of no use to the next attempt, which begins with fresh ones.
#pragma once

#include "actors/chief/ending.hpp"
#include "actors/chief/failures.hpp"
#include "actors/chief/horizon.hpp"
#include "actors/chief/saves.hpp"
#include "messages/report.hpp"

#include <set>

namespace troupe {

struct attempt_books {
  int32_t attempt = 1;
  int64_t began_at = 0;                         ///< The state at which it began.
  troupe::horizon horizon = troupe::horizon{};
  troupe::saves saves = {};
  failure_log causes = {};
  troupe::ending ending = {};
  std::map<node_id, int64_t> lanes = {};        ///< Without an outfeed: the state that each replica has reached.
  std::set<node_id> halting = {};               ///< Nodes that were told to halt, and neither answered nor ended.
};

}  // namespace troupe
