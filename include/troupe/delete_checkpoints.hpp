// Deletes checkpoints of a model directory.
// Not needed to begin with.
//
//   auto done = tr::delete_checkpoints("runs/fashion", {{100}, {200}});
#pragma once

#include <troupe/checkpoint_id.hpp>
#include <troupe/error.hpp>

#include <vector>

namespace troupe {

struct delete_options {
  /// Allows the newest to be deleted, from whose predecessor a job then continues, and the best that a job has kept.
  bool newest_too = false;
};

struct deleted_checkpoints {
  std::vector<checkpoint_id> deleted;
  std::vector<checkpoint_id> held;  ///< No longer listed, but still on disk because a reader has a lease.
};

/// Removes the checkpoints from the state file, then deletes their files. Fails before it changes anything:
/// failed_precondition, when a running job owns the directory (naming the process) or the newest or the best
/// is among them and `options.newest_too` is false; not_found, naming the first that does not exist.
TROUPE_API expected<deleted_checkpoints> delete_checkpoints(const std::string& directory,
                                                            const std::vector<checkpoint_id>& ids,
                                                            const delete_options& options = {});

}  // namespace troupe
