// Follows the commits of a directory, over any disk and clock.
#pragma once

#include "storage/files/file_system.hpp"

#include <troupe/commits.hpp>

namespace troupe {

/// The time of a follower, which waits only here.
class follower_time {
 public:
  virtual ~follower_time() = default;
  virtual std::chrono::nanoseconds now() = 0;
  /// Waits until the directory may have changed, up to `patience`.
  virtual void wait(directory_watch* changes, std::chrono::milliseconds patience) = 0;
};
std::shared_ptr<follower_time> system_time();

struct commit_stream::impl {
  std::shared_ptr<file_system> files;
  std::string directory;
  commits_options options;
  std::shared_ptr<follower_time> time = system_time();
  std::unique_ptr<directory_watch> changes = {};  ///< Null: there is none, so it looks again after a while.
  std::optional<checkpoint_id> last = {};
  std::chrono::nanoseconds returned_at{0};

  expected<std::optional<committed_checkpoint>> next();
  expected<std::optional<committed_checkpoint>> newest() const;
};

}  // namespace troupe
