// Retention: keeps the newest few checkpoints, and one of every period of some hours for good. The decision depends
// only on the state file, so a restart changes nothing.
#pragma once

#include <troupe/checkpoint_id.hpp>

#include <map>
#include <set>
#include <vector>

namespace troupe {

struct retention_policy {
  /// How many checkpoints stay listed; 0: nothing is ever deleted, and the list holds all.
  int keep_checkpoint_max = 5;
  double keep_checkpoint_every_n_hours = 10000;
  std::optional<checkpoint_id> best = {};  ///< Stays listed in addition to the newest few.
};

/// The state of retention. Times are in seconds since the epoch.
struct retention_state {
  std::map<checkpoint_id, double> saved_at;  ///< When each listed checkpoint was saved.
  std::set<checkpoint_id> preserved;         ///< Kept forever; no longer in the list, unless listed again.
  /// Not listed; the directory's owner deletes them when no reader holds them. The value is `file_info::changed` of the
  /// manifest: it shows whether other files have been put in their place since.
  std::map<checkpoint_id, int64_t> doomed;
  /// When the newest preserved checkpoint was saved; before the first, when retention began.
  std::optional<double> last_preserved;
  friend bool operator==(const retention_state&, const retention_state&) = default;
};

struct retention_decision {
  std::vector<checkpoint_id> listed;
  std::vector<checkpoint_id> deleted;
  retention_state retention;
};

/// `listed` is ordered oldest first; the last was saved at `now`. Checkpoints leave the list oldest first. One that
/// leaves is preserved if it was saved at least `keep_checkpoint_every_n_hours` after the last preserved one. If the
/// clock was set back, a `last_preserved` in the future counts as `now`.
retention_decision decide_retention(const retention_policy& policy, std::vector<checkpoint_id> listed,
                                    retention_state retention, double now);

}  // namespace troupe
