// Lets writers that do not hold the lock of a directory check that the job still owns it.
#pragma once

#include "storage/files/file_system.hpp"

#include <mutex>

namespace troupe {

/// Shared by the writers of a job. The owner of the lock registers it here; all other writers check it before they
/// write. Any thread may use it.
class directory_claim {
 public:
  void held(const std::shared_ptr<const directory_lock>& lock) {
    const std::lock_guard guard{guard_};
    lock_ = lock;
    was_held_ = true;
  }
  /// Whether the owner has the lock now.
  bool is_held() const {
    const std::lock_guard guard{guard_};
    return !lock_.expired();
  }
  /// Whether there ever was an owner.
  bool was_held() const {
    const std::lock_guard guard{guard_};
    return was_held_;
  }
  /// Calls the lock's own check. Succeeds if there is no lock.
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
  std::weak_ptr<const directory_lock> lock_;  // Expires when the owner releases the lock.
  bool was_held_ = false;
};

}  // namespace troupe
