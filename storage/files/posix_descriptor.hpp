// File descriptors, and conversion of errno to errors. Only for posix_file_system.cpp.
#pragma once

#include "storage/files/file_system.hpp"

#include <unistd.h>

#include <cerrno>
#include <utility>

namespace troupe {

/// The error "cannot <operation> <path>: <the system's text>". `code` is an errno and decides the category.
tl::unexpected<error> fail_at(std::string_view operation, const std::string& path, int code);

/// Repeats a system call that a signal interrupted. Signals also interrupt threads that do not handle them.
template <class Call>
auto uninterrupted(Call call) {
  decltype(call()) result;
  do
    result = call();
  while (result < 0 && errno == EINTR);
  return result;
}

/// Owns a file descriptor and closes it.
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
  /// On Linux, a close that was interrupted has closed the file; a second call could close the file of another thread.
  int close() noexcept {
    const int result = ::close(std::exchange(fd_, -1));
    return result < 0 && errno == EINTR ? 0 : result;
  }

 private:
  int fd_;
};

/// Opens with O_CLOEXEC. On failure the result is not valid and errno is set.
descriptor open_file(const std::string& path, int flags);

}  // namespace troupe
