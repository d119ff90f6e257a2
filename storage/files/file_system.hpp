// The interface for all file access. Implemented by the real disk, a disk in memory, and one that fails on purpose.
//
// Calls are synchronous and may block; any thread may call, one thread at a time per open file. Paths are absolute or
// relative to the process, with '/' separators. Errors: not_found, failed_precondition (not a directory, exists,
// permission), resource_exhausted (no space, too many files), unavailable (I/O error); each names path and operation.
#pragma once

#include <troupe/error.hpp>

#include <chrono>
#include <memory>
#include <optional>
#include <span>

namespace troupe {

class writable_file {
 public:
  virtual ~writable_file() = default;  ///< Closes without syncing and ignores errors; call close() before.
  virtual expected<void> append(std::span<const std::byte> bytes) = 0;
  /// Returns when the file's bytes are on the medium (fsync).
  virtual expected<void> sync() = 0;
  virtual expected<void> close() = 0;
  /// Whether the path still leads to this file, with at least the bytes that were written. Others may have removed,
  /// replaced or truncated it. Always true for a device or a pipe.
  virtual expected<bool> is_in_place() const = 0;
};

class readable_file {
 public:
  virtual ~readable_file() = default;
  /// Reads exactly `into.size()` bytes at `offset`. Error: data_loss naming offset and size if the file is shorter.
  virtual expected<void> read(int64_t offset, std::span<std::byte> into) const = 0;
  virtual int64_t size() const noexcept = 0;
};

/// Ownership of a directory. Destroying the object releases it.
class directory_lock {
 public:
  virtual ~directory_lock() = default;
  /// Error: failed_precondition if the directory at this path is not the one that was locked: it was removed or moved,
  /// and another process may own its replacement. Writers check this before they write.
  virtual expected<void> check() const = 0;
};

/// Protects one file from `remove_unless_held`, until the object is destroyed or its process dies.
class file_hold {
 public:
  virtual ~file_hold() = default;
  /// Whether it does; some file systems have no locks, and there any process may remove the file.
  virtual bool protects() const noexcept { return true; }
};

/// Tells that a directory may have changed. One thread at a time.
class directory_watch {
 public:
  virtual ~directory_watch() = default;
  /// Whether names in the directory, or the files behind them, may have changed since the last call, or since `watch`.
  /// Waits for that, up to `patience` of the system's time. True for a directory that comes, or goes.
  virtual bool changed(std::chrono::milliseconds patience) = 0;
};
/// Disks of a network tell nothing of what other machines do: whoever watches looks again after this time in any case.
inline constexpr std::chrono::seconds look_again{5};

struct file_info {
  std::string name;  ///< The name without its directory.
  bool directory = false;
  int64_t size = 0;
  double modified = 0;  ///< Seconds since the epoch.
  int64_t changed = 0;  ///< Changes whenever the file is replaced or restored, even by an identical copy.
};

class file_system {
 public:
  virtual ~file_system() = default;

  /// Creates a file for writing. An existing file is truncated.
  virtual expected<std::unique_ptr<writable_file>> create(const std::string& path) = 0;
  /// Creates a new file; null, without effect, if the name exists.
  virtual expected<std::unique_ptr<writable_file>> create_new(const std::string& path) = 0;
  /// Opens a file to write behind what it has. Errors: not_found; failed_precondition for a directory.
  virtual expected<std::unique_ptr<writable_file>> open_to_append(const std::string& path) = 0;
  /// Opens a file for reading at any position. Error: failed_precondition for a directory, a pipe or a device; it does
  /// not wait for a pipe's writer.
  virtual expected<std::unique_ptr<readable_file>> open(const std::string& path) = 0;
  /// Renames atomically. An existing file `to` is replaced. A directory keeps its contents; it can only be renamed
  /// within its parent, to a name that is free.
  virtual expected<void> rename(const std::string& from, const std::string& to) = 0;
  /// The path to which `rename` must move a file so that `path` leads to it: `path` itself, or the end of its symbolic
  /// links. Absent if the target can only be written to: a device, a pipe, a socket, or the target of a link in /proc,
  /// such as that of standard output.
  virtual expected<std::optional<std::string>> replaceable(const std::string& path) { return path; }
  virtual expected<void> remove(const std::string& path) = 0;
  virtual expected<void> create_directories(const std::string& path) = 0;
  /// Makes renames, creations and removals in `path` durable (fsync of the directory).
  virtual expected<void> sync_directory(const std::string& path) = 0;
  virtual expected<std::vector<file_info>> list(const std::string& path) = 0;  ///< Sorted by name.
  virtual expected<file_info> info(const std::string& path) = 0;
  /// Takes exclusive ownership of a directory, between processes and within one. Error: failed_precondition if it is
  /// owned already, with the owner's process id if known, or if its lock file is a pipe, a device or a directory.
  virtual expected<std::unique_ptr<directory_lock>> lock(const std::string& directory) = 0;
  /// The owner of a directory: "process 4711", "another process", or absent. Takes no lock itself, so it never blocks a
  /// process that locks.
  virtual expected<std::optional<std::string>> lock_owner(const std::string& directory) = 0;
  /// Watches a directory, also one that is not there yet. Error: resource_exhausted if the system has no more watches.
  virtual expected<std::unique_ptr<directory_watch>> watch(const std::string& directory) = 0;
  /// Takes a hold on a file. Others may hold it too, in this process or another. Error: not_found if the file does not
  /// exist or is being removed.
  virtual expected<std::unique_ptr<file_hold>> hold(const std::string& path) = 0;
  /// Removes a file unless it is held; false, without effect, if it is.
  virtual expected<bool> remove_unless_held(const std::string& path) = 0;
  /// Creates one directory; false, without effect, if the name exists.
  virtual expected<bool> create_directory(const std::string& path) = 0;
  /// Error: failed_precondition unless `path` is an empty directory.
  virtual expected<void> remove_empty_directory(const std::string& path) = 0;
};

/// The real disk. Opens with O_CLOEXEC and repeats interrupted calls.
std::shared_ptr<file_system> posix_file_system();
/// An empty disk in memory. To simulate power loss, use a `memory_disk` (memory_file_system.hpp).
std::shared_ptr<file_system> memory_file_system();

/// The most bytes of a record that is read in one piece: far above what is written, and far below what a machine has.
inline constexpr int64_t record_bytes_max = int64_t{64} << 20;
/// The whole content of a file. Error: data_loss naming path and size, before anything is allocated, if it has more
/// than `bytes_max` bytes.
expected<std::string> read_file(file_system& fs, const std::string& path, int64_t bytes_max = record_bytes_max);
/// As above, of an open file.
expected<std::string> read_whole(const readable_file& file, const std::string& path, int64_t bytes_max);
/// Creates a file that `rename` will give its final name. Whatever has the temporary name already (a file of a dead
/// process, a link, a pipe) is removed, so that it is neither followed nor waited for. Error: failed_precondition if
/// another program keeps making it.
expected<std::unique_ptr<writable_file>> create_temporary(file_system& fs, const std::string& path);
/// Syncs and closes a temporary file. Error: failed_precondition if `path`, its name, does not lead to it any more, or
/// if it was truncated; renaming it would then make another file `name`.
expected<void> complete_temporary(writable_file& file, const std::string& path, const std::string& name,
                                  const directory_lock* lock = nullptr);
/// Writes and syncs `name.tmp`, renames it to `name`, and syncs the directory: a reader sees either the old or the new
/// file. Renames nothing once `lock`, if given, is no longer the lock of the directory, or once `name.tmp` is not the
/// file that was written.
expected<void> write_file_atomically(file_system& fs, const std::string& directory, const std::string& name,
                                     std::string_view bytes, const directory_lock* lock = nullptr);
/// Removes a directory and everything in it. Parts of it may be missing already. Symbolic links are removed, not
/// followed.
expected<void> remove_tree(file_system& fs, const std::string& path);
/// "a/b" for "a" and "b". An absolute `name` is returned as it is.
std::string join_path(std::string_view directory, std::string_view name);

}  // namespace troupe
