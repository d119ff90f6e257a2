// The system's file descriptors, and its errors as Troupe's. Only for posix_file_system.cpp.
#pragma once

#include "storage/files/file_system.hpp"

#include <cerrno>
#include <utility>

#include <unistd.h>

namespace troupe {

/// "cannot <operation> <path>: <what the system says>", in the category that fits `code`, an errno.
tl::unexpected<error> fail_at(std::string_view operation, const std::string& path, int code);

/// Repeats a slow call that a signal interrupted, which happens to threads that do not handle signals too.
template <class Call>
auto uninterrupted(Call call) {
  decltype(call()) result;
  do
    result = call();
  while (result < 0 && errno == EINTR);
  return result;
}

/// An open file of the system, closed with this object.
class descriptor {
 public:
  explicit descriptor(int fd) : fd_(fd) {}
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~descriptor() {
    if (fd_ >= 0)
      ::close(fd_);
  }

  int get() const noexcept { return fd_; }
  bool valid() const noexcept { return fd_ >= 0; }
  /// On Linux, an interrupted close has closed; calling it again could close another thread's file.
  int close() noexcept {
    const int result = ::close(std::exchange(fd_, -1));
    return result < 0 && errno == EINTR ? 0 : result;
  }

 private:
  int fd_;
};

/// With O_CLOEXEC; invalid, with errno, when that fails.
descriptor open_file(const std::string& path, int flags);

}  // namespace troupe
