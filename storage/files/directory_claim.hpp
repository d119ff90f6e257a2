// Whose a directory is, for those who write into it without holding its lock.
#pragma once

#include "storage/files/file_system.hpp"

#include <mutex>

namespace troupe {

/// Shared by a job's writers: whoever locks the directory says so, and all others ask before they write. Any thread.
class directory_claim {
 public:
  void held(const std::shared_ptr<const directory_lock>& lock) {
    const std::lock_guard guard{guard_};
    lock_ = lock;
  }
  /// What the lock says; yes where nobody holds one.
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
  std::weak_ptr<const directory_lock> lock_;  // It goes with its owner.
};

}  // namespace troupe
