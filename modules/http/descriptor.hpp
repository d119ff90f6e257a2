// An owned file descriptor, and an eventfd that wakes a thread in poll.
#pragma once

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

namespace troupe {

class descriptor {
 public:
  explicit descriptor(int fd) : fd_(fd) {}
  descriptor(descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  descriptor& operator=(descriptor&&) = delete;
  ~descriptor() {
    if (fd_ >= 0)
      ::close(fd_);
  }
  int fd() const { return fd_; }

 private:
  int fd_;
};

/// Any thread.
class wake_up {
 public:
  wake_up() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (event_.fd() < 0)
      throw std::system_error(errno, std::generic_category(), "eventfd");
  }
  int fd() const { return event_.fd(); }  ///< Readable from `set` until `clear`.
  void set() const { (void)::eventfd_write(fd(), 1); }
  void clear() const {
    eventfd_t count = 0;
    (void)::eventfd_read(fd(), &count);
  }

 private:
  descriptor event_;
};

}  // namespace troupe
