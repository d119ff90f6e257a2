// Growth: how a job comes from one plan to the next. Plain data.
//
//   training ──end of the iteration──► growing ──its nodes are gone, the newest commit is named──► preparing ──prepared──► starting ──► restoring
//   starting, recovering ──the newest commit wants another plan──────────────────────────────────►
#pragma once

#include "messages/snapshot.hpp"

#include <optional>
#include <set>

namespace troupe {

struct growth {
  bool by_plan = false;                 ///< The attempt follows the end of an iteration, and no failure.
  std::optional<newest> books = {};     ///< Those that want another plan.
  std::set<node_id> leaving = {};       ///< Nodes that were told to end, and whose end is no failure,
  bool starts = false;                  ///<   and whether an attempt of the present plan begins once they have ended.
};

}  // namespace troupe
