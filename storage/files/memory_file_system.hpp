// A disk in memory that can lose power: what was not synced goes, wholly or in parts.
//
//   auto disk = memory_disk::make();
//   ... write through it ...
//   disk->crash({.torn_tails = true, .entries_may_survive = true, .seed = 7});
//
// A file's bytes are safe after its `sync()`, its name after `sync_directory()` of the directory it is in: neither
// brings the other. A rename that was not synced survives a crash as a whole or not at all.
#pragma once

#include "storage/files/file_system.hpp"

namespace troupe {

struct crash_options {
  bool torn_tails = false;           ///< Of unsynced bytes a prefix may stay, as written or as zeros; else none stay.
  bool entries_may_survive = false;  ///< Each unsynced change of a directory stays or goes by seed; else all go.
  uint64_t seed = 0;
};

/// Any thread may call it.
class memory_disk : public file_system {
 public:
  static std::shared_ptr<memory_disk> make();
  /// Forgets, ends every lock, and makes each file that is open fail from now on (unavailable).
  virtual void crash(const crash_options& options = {}) = 0;
  /// What `rm -rf` does: the directory goes with all that is in it, whoever has locked it. It must be there (asserted).
  virtual void remove_directory(const std::string& path) = 0;
  /// Replaces a file's bytes in place, synced: a medium that rots. The file must be there (asserted).
  virtual void overwrite(const std::string& path, std::string_view bytes) = 0;
};

}  // namespace troupe
