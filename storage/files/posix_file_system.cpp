#include "storage/files/posix_handles.hpp"
#include "words/text.hpp"

#include <climits>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

namespace troupe {

using namespace posix;

namespace {

/// Opening a pipe does not wait for its other end, and a terminal does not become this process's. Files open as ever.
constexpr int at_once = O_NONBLOCK | O_NOCTTY;

/// Whether the file system has no locks. Files can then not be held, and no removal is refused.
bool without_locks(int code) { return code == ENOLCK || code == EOPNOTSUPP || code == ENOSYS || code == EINVAL; }

/// Takes (F_OFD_SETLK) or queries (F_OFD_GETLK) a lock on the whole file. On failure returns a negative number and sets
/// errno.
int lock_call(const descriptor& fd, int command, struct flock& lock) {
  return uninterrupted([&] { return ::fcntl(fd.get(), command, &lock); });
}

std::string owner_of(const descriptor& lock) {
  char text[32] = {};
  const auto n = ::pread(lock.get(), text, sizeof text - 1, 0);
  const std::string id{text, n > 0 ? std::strcspn(text, "\n") : 0};
  return id.empty() ? "another process" : "process " + id;
}

std::string kind_of(const struct stat& s) {
  return S_ISFIFO(s.st_mode) ? "a pipe" : S_ISSOCK(s.st_mode) ? "a socket" : "a device";
}

/// The path that the link at `path` leads to. A relative target is joined to the path of the link's directory.
expected<std::string> target_of(const std::string& path) {
  char target[PATH_MAX];
  const auto n = ::readlink(path.c_str(), target, sizeof target);
  if (n < 0 || n == static_cast<ssize_t>(sizeof target))
    return fail_at("follow", path, n < 0 ? errno : ENAMETOOLONG);
  const size_t slash = path.rfind('/');
  return join_path(path.substr(0, slash == std::string::npos ? 0 : slash + 1), {target, static_cast<size_t>(n)});
}

/// Error: failed_precondition if the open file is a pipe, a socket, a device or a directory.
expected<struct stat> regular(const descriptor& fd, std::string_view operation, const std::string& path) {
  struct stat s;
  if (::fstat(fd.get(), &s) < 0)
    return fail_at(operation, path, errno);
  if (S_ISDIR(s.st_mode))
    return fail_at(operation, path, EISDIR);
  if (!S_ISREG(s.st_mode))
    return fail(errc::failed_precondition, "cannot " + std::string{operation} + " " + path + ": it is " + kind_of(s)
                                               + ", and a regular file is wanted");
  return s;
}

file_info to_info(std::string name, const struct stat& s) {
  // `changed` combines ctime and inode. ctime cannot be set, so a copy that preserves file times has another one. It
  // advances only with the kernel's ticks, so two files made at the same time differ only in the inode.
  return {std::move(name), S_ISDIR(s.st_mode), s.st_size,
          static_cast<double>(s.st_mtim.tv_sec) + 1e-9 * static_cast<double>(s.st_mtim.tv_nsec),
          (static_cast<int64_t>(s.st_ctim.tv_sec) * 1'000'000'000 + s.st_ctim.tv_nsec)
              ^ (static_cast<int64_t>(s.st_ino & 0xfffff) << 40)};
}

class posix_disk final : public file_system {
 public:
  expected<std::unique_ptr<writable_file>> create(const std::string& path) override {
    auto fd = open_file(path, O_WRONLY | O_CREAT | O_TRUNC);
    if (!fd.valid())
      return fail_at("create", path, errno);
    return std::make_unique<posix_writable_file>(std::move(fd), path);
  }

  expected<std::unique_ptr<writable_file>> create_new(const std::string& path) override {
    auto fd = open_file(path, O_WRONLY | O_CREAT | O_EXCL);
    if (!fd.valid() && errno == EEXIST)
      return nullptr;
    if (!fd.valid())
      return fail_at("create", path, errno);
    return std::make_unique<posix_writable_file>(std::move(fd), path);
  }

  expected<std::unique_ptr<writable_file>> open_to_append(const std::string& path) override {
    auto fd = open_file(path, O_WRONLY | O_APPEND);
    struct stat s;
    if (!fd.valid() || ::fstat(fd.get(), &s) < 0)
      return fail_at("open", path, errno);
    return std::make_unique<posix_writable_file>(std::move(fd), path, s.st_size);
  }

  expected<std::unique_ptr<readable_file>> open(const std::string& path) override {
    auto fd = open_file(path, O_RDONLY | at_once);
    if (!fd.valid())
      return fail_at("open", path, errno);
    const auto s = regular(fd, "open", path);
    if (!s)
      return fail(s.error());
    return std::make_unique<posix_readable_file>(std::move(fd), path, s->st_size);
  }

  expected<void> rename(const std::string& from, const std::string& to) override {
    if (uninterrupted([&] { return ::rename(from.c_str(), to.c_str()); }) < 0)
      return fail_at("rename", from + " to " + to, errno);
    return {};
  }

  expected<std::optional<std::string>> replaceable(const std::string& path) override {
    struct stat s;
    if (::stat(path.c_str(), &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode))
      return std::nullopt;
    constexpr int links_max = 40;  // The same limit as in the kernel.
    std::string name = path;
    for (int links = 0; ::lstat(name.c_str(), &s) == 0 && S_ISLNK(s.st_mode); ++links) {
      if (name.starts_with("/proc/"))
        return std::nullopt;
      auto next = links < links_max ? target_of(name) : expected<std::string>{fail_at("follow", path, ELOOP)};
      if (!next)
        return fail(next.error());
      name = std::move(*next);
    }
    return name;
  }

  expected<void> remove(const std::string& path) override {
    if (uninterrupted([&] { return ::unlink(path.c_str()); }) < 0)
      return fail_at("remove", path, errno);
    return {};
  }

  expected<void> create_directories(const std::string& path) override {
    for (size_t end = 0; end != std::string::npos;) {
      end = path.find('/', end + 1);
      const std::string part = path.substr(0, end);
      if (part.empty() || ::mkdir(part.c_str(), 0755) == 0)
        continue;
      // For an existing ancestor mkdir may also fail with another code than EEXIST, for example on a read-only disk.
      const int code = errno;
      struct stat s;
      if (::stat(part.c_str(), &s) < 0)
        return fail_at("create directory", part, code);
      if (!S_ISDIR(s.st_mode))
        return fail_at("create directory", part, ENOTDIR);
    }
    return {};
  }

  expected<bool> create_directory(const std::string& path) override {
    if (::mkdir(path.c_str(), 0755) == 0)
      return true;
    if (errno == EEXIST)
      return false;
    return fail_at("create directory", path, errno);
  }

  expected<void> remove_empty_directory(const std::string& path) override {
    if (uninterrupted([&] { return ::rmdir(path.c_str()); }) < 0)
      return fail_at("remove", path, errno);
    return {};
  }

  expected<void> sync_directory(const std::string& path) override {
    auto fd = open_file(path, O_RDONLY | O_DIRECTORY);
    if (!fd.valid())
      return fail_at("sync directory", path, errno);
    // Some file systems cannot fsync a directory and return EINVAL. There is nothing better to do then.
    if (uninterrupted([&] { return ::fsync(fd.get()); }) < 0 && errno != EINVAL)
      return fail_at("sync directory", path, errno);
    return {};
  }

  expected<std::vector<file_info>> list(const std::string& path) override {
    const std::unique_ptr<DIR, int (*)(DIR*)> directory{::opendir(path.c_str()), ::closedir};
    if (!directory)
      return fail_at("list", path, errno);
    std::vector<file_info> found;
    for (;;) {
      errno = 0;
      const dirent* entry = ::readdir(directory.get());
      if (!entry && errno != 0)
        return fail_at("list", path, errno);
      if (!entry)
        break;
      const std::string name = entry->d_name;
      struct stat s;
      if (name == "." || name == "..")
        continue;
      if (::fstatat(::dirfd(directory.get()), entry->d_name, &s, 0) == 0)
        found.push_back(to_info(name, s));  // Entries without info were removed meanwhile, or are broken links.
    }
    std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
    return found;
  }

  expected<file_info> info(const std::string& path) override {
    struct stat s;
    if (::stat(path.c_str(), &s) < 0)
      return fail_at("look at", path, errno);
    return to_info(file_name_of(path), s);
  }

  expected<std::unique_ptr<directory_lock>> lock(const std::string& directory) override {
    const std::string path = join_path(directory, ".lock");
    auto fd = open_file(path, O_RDWR | O_CREAT | at_once);
    if (!fd.valid())
      return fail_at("lock", path, errno);
    if (const auto s = regular(fd, "lock", path); !s)
      return fail(s.error());
    struct flock whole {
      .l_type = F_WRLCK, .l_whence = SEEK_SET
    };
    if (lock_call(fd, F_OFD_SETLK, whole) < 0) {
      if (errno != EAGAIN && errno != EACCES)
        return fail_at("lock", path, errno);
      return fail(errc::failed_precondition, directory + " is in use by " + owner_of(fd));
    }
    // The process id is only for the message above. Its errors are ignored, since a full disk must not prevent locking.
    const std::string text = std::to_string(::getpid()) + "\n";
    if (::ftruncate(fd.get(), 0) < 0 || ::pwrite(fd.get(), text.data(), text.size(), 0) < 0)
      errno = 0;
    auto lock = std::make_unique<posix_lock>(std::move(fd), directory, path);
    if (auto same = lock->check(); !same)  // The lock file may have been removed between opening and locking.
      return fail(std::move(same.error()));
    return lock;
  }

  expected<std::optional<std::string>> lock_owner(const std::string& directory) override {
    const std::string path = join_path(directory, ".lock");
    const auto fd = open_file(path, O_RDONLY | at_once);
    if (!fd.valid() && errno == ENOENT)
      return std::nullopt;
    if (!fd.valid())
      return fail_at("look at", path, errno);
    if (!regular(fd, "look at", path))
      return std::nullopt;  // `lock` refuses it, so nobody owns the directory.
    struct flock whole {
      .l_type = F_RDLCK, .l_whence = SEEK_SET
    };
    if (lock_call(fd, F_OFD_GETLK, whole) < 0)
      return fail_at("look at", path, errno);
    return whole.l_type == F_UNLCK ? std::nullopt : std::optional{owner_of(fd)};
  }

  expected<std::unique_ptr<directory_watch>> watch(const std::string& directory) override {
    descriptor events{::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)};
    if (!events.valid())
      return fail_at("watch", directory, errno);
    return std::make_unique<posix_watch>(std::move(events), directory);
  }

  expected<std::unique_ptr<file_hold>> hold(const std::string& path) override {
    auto fd = open_file(path, O_RDONLY | at_once);
    if (!fd.valid())
      return fail_at("hold", path, errno);
    const bool locked = uninterrupted([&] { return ::flock(fd.get(), LOCK_SH | LOCK_NB); }) == 0;
    if (!locked && !without_locks(errno))
      return fail_at("hold", path, errno == EWOULDBLOCK ? ENOENT : errno);
    // The file may have been removed between opening and holding.
    const auto same = is_named(fd, path);
    if (!same)
      return fail(same.error());
    if (!*same)
      return fail_at("hold", path, ENOENT);
    return std::make_unique<posix_hold>(std::move(fd), locked);
  }

  expected<bool> remove_unless_held(const std::string& path) override {
    // Opened for writing: exclusive locks on a network file system require it.
    auto fd = open_file(path, O_RDWR | at_once);
    if (!fd.valid() && (errno == EACCES || errno == EPERM))
      fd = open_file(path, O_RDONLY | at_once);
    if (!fd.valid())
      return fail_at("remove", path, errno);
    if (uninterrupted([&] { return ::flock(fd.get(), LOCK_EX | LOCK_NB); }) < 0 && !without_locks(errno)) {
      if (errno == EWOULDBLOCK)
        return false;
      return fail_at("remove", path, errno);
    }
    return remove(path).map([] { return true; });
  }
};

}  // namespace

std::shared_ptr<file_system> posix_file_system() { return std::make_shared<posix_disk>(); }

}  // namespace troupe
