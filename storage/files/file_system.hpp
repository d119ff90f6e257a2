// Interface for all file access: to the real disk, one in memory, and one that fails, tears and forgets.
//
// Calls are synchronous and may block; any thread may call, one thread at a time per open file. Paths are absolute or
// relative to the process, with '/' separators. Errors: not_found, failed_precondition (not a directory, exists,
// permission), resource_exhausted (no space, too many files), unavailable (I/O error); each names path and operation.
#pragma once

#include <troupe/error.hpp>

#include <memory>
#include <optional>
#include <span>

namespace troupe {

class writable_file {
 public:
  virtual ~writable_file() = default;  ///< Closes without syncing and drops errors: call close().
  virtual expected<void> append(std::span<const std::byte> bytes) = 0;
  /// Returns after the file's bytes are on the medium (fsync).
  virtual expected<void> sync() = 0;
  virtual expected<void> close() = 0;
  /// Whether its path still leads to this file, with at least the bytes that were written: others may have removed, replaced or truncated it.
  /// True of a device and of a pipe.
  virtual expected<bool> is_in_place() const = 0;
};

class readable_file {
 public:
  virtual ~readable_file() = default;
  /// Reads exactly `into.size()` bytes at `offset`; data_loss naming offset and size when the file is shorter.
  virtual expected<void> read(int64_t offset, std::span<std::byte> into) const = 0;
  virtual int64_t size() const noexcept = 0;
};

/// Held while a directory is owned; released when destroyed.
class directory_lock {
 public:
  virtual ~directory_lock() = default;
  /// failed_precondition if the directory of this name is no longer the one that was locked: it was removed or moved
  /// away, and another process may own its replacement. Writers check before they write.
  virtual expected<void> check() const = 0;
};

/// Protects one file from `remove_unless_held` until destroyed, or until its process dies.
class file_hold {
 public:
  virtual ~file_hold() = default;
};

struct file_info {
  std::string name;       ///< Without directory.
  bool directory = false;
  int64_t size = 0;
  double modified = 0;    ///< Seconds since the epoch.
  int64_t changed = 0;    ///< Changes whenever a file is replaced, or restored, even by a copy.
};

class file_system {
 public:
  virtual ~file_system() = default;

  virtual expected<std::unique_ptr<writable_file>> create(const std::string& path) = 0;  ///< Truncates an existing one.
  /// The same for a new name; null, without effect, if the name exists.
  virtual expected<std::unique_ptr<writable_file>> create_new(const std::string& path) = 0;
  /// Opens a file for reading in any order: failed_precondition for a directory, a pipe or a device, without waiting
  /// for a writer.
  virtual expected<std::unique_ptr<readable_file>> open(const std::string& path) = 0;
  /// Atomic; replaces a file `to`. A directory moves with its contents, within its parent, to a name that is free.
  virtual expected<void> rename(const std::string& from, const std::string& to) = 0;
  /// The name to which `rename` must move a file so that `path` leads to it: `path`, or the end of its symbolic links.
  /// Nothing if the target can only be written to: a device, a pipe, a socket, or the target of a link in /proc, such
  /// as that of standard output.
  virtual expected<std::optional<std::string>> replaceable(const std::string& path) { return path; }
  virtual expected<void> remove(const std::string& path) = 0;
  virtual expected<void> create_directories(const std::string& path) = 0;
  /// Makes renames, creations and removals in `path` durable (fsync of the directory).
  virtual expected<void> sync_directory(const std::string& path) = 0;
  virtual expected<std::vector<file_info>> list(const std::string& path) = 0;            ///< Sorted by name.
  virtual expected<file_info> info(const std::string& path) = 0;
  /// Exclusive ownership of a directory between processes and within one; failed_precondition names the owner's
  /// process id where it is known.
  virtual expected<std::unique_ptr<directory_lock>> lock(const std::string& directory) = 0;
  /// The owner of a directory: "process 4711", "another process", or nobody. Asking takes no lock, so it refuses
  /// nobody.
  virtual expected<std::optional<std::string>> lock_owner(const std::string& directory) = 0;
  /// Takes a hold, shared with other holders, between processes and within one. not_found: the file does not exist or
  /// is being removed.
  virtual expected<std::unique_ptr<file_hold>> hold(const std::string& path) = 0;
  /// Removes a file that nobody holds; false, without effect, if it is held.
  virtual expected<bool> remove_unless_held(const std::string& path) = 0;
  /// Creates one directory; false, without effect, if the name exists.
  virtual expected<bool> create_directory(const std::string& path) = 0;
  /// failed_precondition unless it is a directory without entries.
  virtual expected<void> remove_empty_directory(const std::string& path) = 0;
};

/// The disk. Opens with O_CLOEXEC and repeats interrupted calls.
std::shared_ptr<file_system> posix_file_system();
/// A disk in memory, empty. To simulate power loss, use a `memory_disk` (memory_file_system.hpp).
std::shared_ptr<file_system> memory_file_system();

/// The whole file as bytes.
expected<std::string> read_file(file_system& fs, const std::string& path);
/// Writes and syncs `name.tmp`, renames it to `name`, and syncs the directory: a reader sees the old or the new file.
/// With `lock`, nothing is renamed once that is no longer the directory's.
expected<void> write_file_atomically(file_system& fs, const std::string& directory, const std::string& name, std::string_view bytes,
                                     const directory_lock* lock = nullptr);
/// Removes a directory with all in it, which may be gone in part. A symbolic link in it is removed, not followed.
expected<void> remove_tree(file_system& fs, const std::string& path);
/// "a/b" from "a" and "b"; `b` alone when absolute.
std::string join_path(std::string_view directory, std::string_view name);

}  // namespace troupe
