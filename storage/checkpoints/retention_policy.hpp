// Retention: the newest few checkpoints are kept, and for ever one in every so many hours. A pure function of the state
// file's marks, so a restart changes nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace troupe {

struct retention_policy {
  int keep_checkpoint_max = 5;                   ///< 0: nothing is ever deleted, and the list holds all.
  double keep_checkpoint_every_n_hours = 10000;
};

/// The state of retention. Times are in seconds since the epoch.
struct retention_marks {
  std::map<int64_t, double> saved_at;            ///< For the listed steps.
  std::set<int64_t> preserved;                   ///< Kept for ever: no longer listed, or listed again.
  /// No longer listed; the directory's owner deletes them when no reader holds them. Each has the number
  /// (file_info::changed) of its manifest, which tells it from files put in its place later.
  std::map<int64_t, int64_t> doomed;
  std::optional<double> last_preserved;          ///< When the last of these was saved; at first, when retention began.
  friend bool operator==(const retention_marks&, const retention_marks&) = default;
};

struct retention_decision {
  std::vector<int64_t> listed;
  std::vector<int64_t> deleted;
  retention_marks marks;
};

/// `listed` is oldest first and ends with the step saved at `now`. Of the steps that leave the list, oldest first, each
/// one saved at least so many hours after the last preserved one is preserved too. A mark in the future, after a clock
/// went back, counts as `now`.
retention_decision decide_retention(const retention_policy& policy, std::vector<int64_t> listed, retention_marks marks, double now);

}  // namespace troupe
