// Retention: the newest few checkpoints are kept, and for ever one in every so many hours. A pure function of the state
// file's marks, so a restart changes nothing.
#pragma once

#include <troupe/checkpoint_id.hpp>

#include <map>
#include <set>
#include <vector>

namespace troupe {

struct retention_policy {
  int keep_checkpoint_max = 5;                   ///< 0: nothing is ever deleted, and the list holds all.
  double keep_checkpoint_every_n_hours = 10000;
  std::optional<checkpoint_id> best = {};        ///< Stays listed beside the newest few.
};

/// The state of retention. Times are in seconds since the epoch.
struct retention_marks {
  std::map<checkpoint_id, double> saved_at;      ///< For the listed checkpoints.
  std::set<checkpoint_id> preserved;             ///< Kept for ever: no longer listed, or listed again.
  /// No longer listed; the directory's owner deletes them when no reader holds them. Each has the number
  /// (file_info::changed) of its manifest, which tells it from files put in its place later.
  std::map<checkpoint_id, int64_t> doomed;
  std::optional<double> last_preserved;          ///< When the last of these was saved; at first, when retention began.
  friend bool operator==(const retention_marks&, const retention_marks&) = default;
};

struct retention_decision {
  std::vector<checkpoint_id> listed;
  std::vector<checkpoint_id> deleted;
  retention_marks marks;
};

/// `listed` is oldest first and ends with the one saved at `now`. Of those that leave the list, oldest first, each one
/// saved at least so many hours after the last preserved one is preserved too. A mark in the future, after a clock
/// went back, counts as `now`.
retention_decision decide_retention(const retention_policy& policy, std::vector<checkpoint_id> listed, retention_marks marks, double now);

}  // namespace troupe
