// Which checkpoints stay: the newest few, and for ever one of every so many hours. A pure function on what the state
// file remembers, so that a restart changes nothing.
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

/// What retention has to remember. Times are in seconds since the epoch.
struct retention_marks {
  std::map<int64_t, double> saved_at;            ///< Of the steps that are listed.
  std::set<int64_t> preserved;                   ///< Kept for ever: no longer listed, or listed again.
  /// No longer listed, and to be deleted when nobody reads them, by whoever owns the directory then; with each the number
  /// (file_info::changed) of its manifest, since what was put in its place afterwards is not ours.
  std::map<int64_t, int64_t> doomed;
  std::optional<double> last_preserved;          ///< When the last one of them was saved; first, when retention began.
  friend bool operator==(const retention_marks&, const retention_marks&) = default;
};

struct retention_decision {
  std::vector<int64_t> listed;
  std::vector<int64_t> deleted;
  retention_marks marks;
};

/// `listed` is oldest first and ends with the step that was saved at `now`. Of those that leave the list, oldest first,
/// each saved at least so many hours after the last that was preserved is preserved too. A mark that lies in the future,
/// since a clock went back, counts as `now`.
retention_decision decide_retention(const retention_policy& policy, std::vector<int64_t> listed, retention_marks marks, double now);

}  // namespace troupe
