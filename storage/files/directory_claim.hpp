// Ownership of a directory, for writers that do not hold its lock.
#pragma once

#include "storage/files/file_system.hpp"

#include <mutex>

namespace troupe {

/// Shared by a job's writers: the owner of the lock registers it here, and all others check it before they write. Any
/// thread.
class directory_claim {
 public:
  void held(const std::shared_ptr<const directory_lock>& lock) {
    const std::lock_guard guard{guard_};
    lock_ = lock;
  }
  /// The lock's own check; success if there is no lock.
  expected<void> check() const {
    std::shared_ptr<const directory_lock> lock;
    {
      const std::lock_guard guard{guard_};
      lock = lock_.lock();
    }
    return lock ? lock->check() : expected<void>{};
  }

 private:
  mutable std::mutex guard_;
  std::weak_ptr<const directory_lock> lock_;  // Ends with its owner.
};

}  // namespace troupe
