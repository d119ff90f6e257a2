// What the file system of the real disk hands out: open files, locks of directories, holds of files. Only for
// posix_file_system.cpp.
#pragma once

#include "storage/files/posix_descriptor.hpp"
#include "words/text.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>

namespace troupe::posix {

/// The status of `path`, if it still leads to the open file `fd`; absent if that was removed, or replaced by another
/// file.
inline expected<std::optional<struct stat>> status_if_named(const descriptor& fd, const std::string& path) {
  struct stat held, named;
  if (::fstat(fd.get(), &held) < 0)
    return fail_at("look at", path, errno);
  if (::stat(path.c_str(), &named) < 0) {
    if (errno == ENOENT || errno == ENOTDIR)
      return std::nullopt;
    return fail_at("look at", path, errno);
  }
  return held.st_dev == named.st_dev && held.st_ino == named.st_ino ? std::optional{named} : std::nullopt;
}

inline expected<bool> is_named(const descriptor& fd, const std::string& path) {
  return status_if_named(fd, path).map([](const auto& status) { return status.has_value(); });
}

class posix_writable_file final : public writable_file {
 public:
  /// `size`: the bytes that the file has already.
  posix_writable_file(descriptor fd, std::string path, int64_t size = 0)
    : fd_(std::move(fd)), path_(std::move(path)), begun_(size) {}

  expected<void> append(std::span<const std::byte> bytes) override {
    while (!bytes.empty()) {
      const auto n = uninterrupted([&] { return ::write(fd_.get(), bytes.data(), bytes.size()); });
      if (n < 0)
        return fail_at("write", path_, errno);
      bytes = bytes.subspan(static_cast<size_t>(n));
      started(n);
    }
    return {};
  }
  expected<void> sync() override {
    if (uninterrupted([&] { return ::fsync(fd_.get()); }) < 0)
      return fail_at("sync", path_, errno);
    return {};
  }
  expected<void> close() override {
    if (fd_.valid() && fd_.close() < 0)
      return fail_at("close", path_, errno);
    return {};
  }
  expected<bool> is_in_place() const override {
    return status_if_named(fd_, path_).map([&](const auto& status) {
      return status && (!S_ISREG(status->st_mode) || status->st_size >= begun_ + unstarted_);
    });
  }

 private:
  /// Starts writeback while later bytes are still being checksummed and copied, so that `sync` waits only for the last
  /// part. This is a hint; its failure does not matter.
  void started(ssize_t n) {
    unstarted_ += n;
#ifdef SYNC_FILE_RANGE_WRITE
    constexpr int64_t part = int64_t{8} << 20;
    if (unstarted_ < part)
      return;
    ::sync_file_range(fd_.get(), begun_, unstarted_, SYNC_FILE_RANGE_WRITE);
#endif
    begun_ += std::exchange(unstarted_, 0);
  }

  descriptor fd_;
  std::string path_;
  int64_t begun_ = 0, unstarted_ = 0;  ///< Bytes whose writeback was started; bytes written since.
};

class posix_readable_file final : public readable_file {
 public:
  posix_readable_file(descriptor fd, std::string path, int64_t size)
    : fd_(std::move(fd)), path_(std::move(path)), size_(size) {}

  expected<void> read(int64_t offset, std::span<std::byte> into) const override {
    for (size_t done = 0; done < into.size();) {
      const auto n = uninterrupted([&] {
        return ::pread(fd_.get(), into.data() + done, into.size() - done, offset + static_cast<int64_t>(done));
      });
      if (n < 0)
        return fail_at("read", path_, errno);
      if (n == 0)
        return fail(errc::data_loss, path_ + " ends at byte " + std::to_string(offset + static_cast<int64_t>(done))
                                         + ": wanted " + std::to_string(into.size()) + " bytes at "
                                         + std::to_string(offset) + ", found " + std::to_string(done));
      done += static_cast<size_t>(n);
    }
    return {};
  }
  int64_t size() const noexcept override { return size_; }

 private:
  descriptor fd_;
  std::string path_;
  int64_t size_;
};

/// The lock belongs to the open file description: a second open in the same process is refused too, and the owner can
/// be queried without locking. The lock file is not removed when the lock ends: otherwise two processes could lock two
/// files of the same name.
class posix_lock final : public directory_lock {
 public:
  posix_lock(descriptor fd, std::string directory, std::string path)
    : fd_(std::move(fd)), directory_(std::move(directory)), path_(std::move(path)) {}

  expected<void> check() const override {
    const auto same = is_named(fd_, path_);
    if (same && !*same)
      return fail(errc::failed_precondition, directory_ + " is not the directory that was locked: " + path_
                                                 + " was removed or replaced, and another process may own it now");
    return same ? expected<void>{} : fail(same.error());
  }

 private:
  descriptor fd_;
  std::string directory_;
  std::string path_;
};

/// A shared flock on the file itself. Closing the descriptor releases it.
class posix_hold final : public file_hold {
 public:
  posix_hold(descriptor fd, bool protects) : fd_(std::move(fd)), protects_(protects) {}
  bool protects() const noexcept override { return protects_; }

 private:
  descriptor fd_;
  bool protects_;
};

/// Watches the directory itself or, where that is missing, the nearest folder above it.
class posix_watch final : public directory_watch {
 public:
  posix_watch(descriptor events, std::string directory) : events_(std::move(events)), directory_(std::move(directory)) {
    aim();
  }

  bool changed(std::chrono::milliseconds patience) override {
    struct pollfd ready {
      .fd = events_.get(), .events = POLLIN, .revents = 0
    };
    const auto most = std::min<int64_t>(patience.count(), std::numeric_limits<int>::max());
    if (::poll(&ready, 1, static_cast<int>(most)) <= 0 || !take_events())
      return false;  // A signal may end the wait early.
    aim();           // The directory may have come, or gone.
    return true;
  }

 private:
  /// Watches what is there by now. A folder may come between a look and its watch, so it looks again then.
  void aim() {
    constexpr uint32_t what = IN_CREATE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_CLOSE_WRITE | IN_DELETE_SELF
                              | IN_MOVE_SELF | IN_ONLYDIR;
    for (int looks = 0; looks < 8; ++looks) {
      auto path = directory_;
      std::string below;
      int watch = -1;
      while ((watch = ::inotify_add_watch(events_.get(), path.c_str(), what)) < 0 && path != parent_of(path))
        below = std::exchange(path, parent_of(path));
      if (watch != watch_ && watch_ >= 0)
        ::inotify_rm_watch(events_.get(), watch_);
      watch_ = watch;
      if (below.empty() || ::access(below.c_str(), F_OK) != 0)
        return;
    }
  }
  bool take_events() {
    alignas(inotify_event) char buffer[4096];
    bool any = false;
    while (uninterrupted([&] { return ::read(events_.get(), buffer, sizeof buffer); }) > 0)
      any = true;
    return any;
  }

  descriptor events_;
  std::string directory_;
  int watch_ = -1;
};

}  // namespace troupe::posix
