// A file system that fails on purpose, wrapped around any other one.
//
//   auto faulty = faulty_file_system::around(disk);
//   faulty->fail_after(17);                                          // The 18th call fails, and every one after it.
//   faulty->inject({.operation = file_operation::append, .nth = 3}); // The third write finds the disk full, once.
//
// A call that fails has no effect, except that a failing append may write some of its bytes. Any thread may call it.
#pragma once

#include "storage/files/file_system.hpp"

namespace troupe {

enum class file_operation : uint8_t {
  any,
  create,
  append,
  sync,
  close,
  open,
  read,
  rename,
  remove,
  create_directories,
  sync_directory,
  list,
  info,
  lock,
  hold
};
std::string_view to_string(file_operation operation) noexcept;

struct injected_fault {
  file_operation operation = file_operation::any;
  int64_t nth = 1;  ///< Which matching call fails; the first after the injection is 1.
  errc category = errc::resource_exhausted;
  std::string reason = "no space left on device";
  std::string path_contains = {};  ///< Only calls whose path contains this text match.
  bool for_ever = false;           ///< Also every later matching call fails, until `heal`.
};

class faulty_file_system : public file_system {
 public:
  static std::shared_ptr<faulty_file_system> around(std::shared_ptr<file_system> inner);

  /// Lets `calls` more calls succeed; every later call fails with unavailable. With `tear`, the first failing append
  /// writes the first half of its bytes.
  virtual void fail_after(int64_t calls, bool tear = false) = 0;
  /// Adds a fault to the earlier ones. It happens once, unless `for_ever` is set. If two faults are due at one call,
  /// the later one happens at the next matching call.
  virtual void inject(injected_fault fault) = 0;
  /// Ends all faults.
  virtual void heal() = 0;
  /// Number of calls so far, including failed ones. Destroying a file or a lock is not a call.
  virtual int64_t calls() const = 0;
  /// Number of calls that were made to fail.
  virtual int64_t failures() const = 0;
  /// All successful calls, in order: "sync /m/a.tmp", "rename /m/a.tmp to /m/a" ...
  virtual std::vector<std::string> trace() const = 0;
};

}  // namespace troupe
