// A file system that fails on purpose, wrapped around any other one.
//
//   auto faulty = faulty_file_system::around(disk);
//   faulty->fail_after(17);                                          // The 18th call fails, and every one after it.
//   faulty->inject({.operation = file_operation::append, .nth = 3}); // The third write finds the disk full, once.
//
// A call that fails has no effect, except that a failing append may leave some of its bytes. Any thread may call it.
#pragma once

#include "storage/files/file_system.hpp"

namespace troupe {

enum class file_operation : uint8_t {
  any, create, append, sync, close, open, read, rename, remove, create_directories, sync_directory, list, info, lock, hold
};
std::string_view to_string(file_operation operation) noexcept;

struct injected_fault {
  file_operation operation = file_operation::any;
  int64_t nth = 1;                               ///< Counted from the injection, from 1.
  errc category = errc::resource_exhausted;
  std::string reason = "no space left on device";
  std::string path_contains = {};                ///< Counts only calls whose path contains this.
  bool for_ever = false;                         ///< Every call from that one on, until `heal`.
};

class faulty_file_system : public file_system {
 public:
  static std::shared_ptr<faulty_file_system> around(std::shared_ptr<file_system> inner);

  /// Lets `calls` more calls through; every later one fails as unavailable. With `tear`, the first append to fail
  /// leaves the first half of its bytes behind.
  virtual void fail_after(int64_t calls, bool tear = false) = 0;
  /// In addition to earlier faults. Each happens once, unless `for_ever` is set; of two faults due at one call, the
  /// later one happens at the next call that it counts.
  virtual void inject(injected_fault fault) = 0;
  /// Ends all faults.
  virtual void heal() = 0;
  /// Calls made since the beginning, including failed ones; destroying a file or a lock is not a call.
  virtual int64_t calls() const = 0;
  /// Calls made to fail.
  virtual int64_t failures() const = 0;
  /// "sync /m/a.tmp", "rename /m/a.tmp to /m/a" ...: every successful call, in order.
  virtual std::vector<std::string> trace() const = 0;
};

}  // namespace troupe
