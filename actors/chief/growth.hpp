// Growth: how a job goes from one plan to the next. Plain data.
//
//   training ──iteration ends──► growing ──nodes gone, commit named──► preparing ──prepared──► starting ──► restoring
//   starting, recovering ──newest commit wants another plan──────────►
#pragma once

#include "messages/snapshot.hpp"

#include <optional>
#include <set>

namespace troupe {

struct growth {
  bool by_plan = false;              ///< The attempt follows the end of an iteration, not a failure.
  std::optional<newest> books = {};  ///< The books that want another plan.
  std::set<node_id> leaving = {};    ///< Nodes that were told to end; their end is no failure.
  bool starts = false;               ///< Once they have ended, an attempt of the current plan begins.
};

}  // namespace troupe
