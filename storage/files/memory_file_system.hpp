// A disk in memory that can lose power: unsynced changes are lost, wholly or in part.
//
//   auto disk = memory_disk::make();
//   ... write through it ...
//   disk->crash({.torn_tails = true, .entries_may_survive = true, .seed = 7});
//
// A file's bytes are durable after its `sync()`, its name after `sync_directory()` of its directory; neither implies
// the other. A rename that was not synced survives a crash completely or not at all.
#pragma once

#include "storage/files/file_system.hpp"

namespace troupe {

struct crash_options {
  /// A prefix of the unsynced bytes may survive, as written or as zeros; otherwise none survive.
  bool torn_tails = false;
  /// A seeded choice whether each unsynced change of a directory survives; otherwise none survive.
  bool entries_may_survive = false;
  uint64_t seed = 0;
};

/// Any thread may use it.
class memory_disk : public file_system {
 public:
  static std::shared_ptr<memory_disk> make();
  /// Drops unsynced changes and ends every lock. From now on each open file fails (unavailable).
  virtual void crash(const crash_options& options = {}) = 0;
  /// Like `rm -rf`: removes the directory with its contents, even if it is locked. It must exist (asserted).
  virtual void remove_directory(const std::string& path) = 0;
  /// Replaces a file's bytes in place, durably at once, to simulate bit rot. The file must exist (asserted).
  virtual void overwrite(const std::string& path, std::string_view bytes) = 0;
};

}  // namespace troupe
