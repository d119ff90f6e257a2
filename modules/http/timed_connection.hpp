// A connection of cpp-httplib's server whose requests have a time in which they must be whole, and a size. The library bounds only the
// wait for each piece, and the length of a body that says how long it is: a client which sends a byte in each wait would hold a thread for
// as long as it likes, and a line, a list of headers or a body in chunks that does not end would take all memory.
#pragma once

#include <httplib.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstring>
#include <utility>

#include <poll.h>
#include <sys/socket.h>

namespace troupe {

/// Waits until `fd` is ready for `events`, or `also` can be read (-1: none); false when `until` has passed, also for an `fd` that is ready,
/// and on errors.
inline bool wait_for(int fd, short events, std::chrono::steady_clock::time_point until, int also = -1) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    if (left <= 0)
      return false;  // Otherwise a client that is always ready would have no deadline.
    pollfd waited[] = {{fd, events, 0}, {also, POLLIN, 0}};
    const int ready = ::poll(waited, 2, static_cast<int>(std::min<int64_t>(left, INT_MAX)));
    if (ready < 0 && errno == EINTR)
      continue;
    return ready > 0 && waited[0].revents != 0;
  }
}

class timed_connection final : public httplib::Stream {
 public:
  using duration = std::chrono::steady_clock::duration;

  /// `piece`: between two pieces of a request, and of an answer; `whole`: for all of a request, and for all of its answer. `bytes`: for
  /// a request with its first line and headers.
  timed_connection(int fd, duration piece, duration whole, uint64_t bytes) : fd_(fd), piece_(piece), whole_(whole), bytes_(bytes) {}

  bool has_read_ahead() const { return begin_ < end_; }  ///< Of the next request.
  void begin_request() {
    received_by_ = std::chrono::steady_clock::now() + whole_;
    answers_ = false;
    left_ = bytes_;
  }
  /// No further request is read: what follows this one is not known to be the beginning of another.
  void end_with_this() { ends_ = true; }
  bool ends() const { return ends_; }

  bool is_readable() const override { return has_read_ahead() || wait(POLLIN, received_by_); }
  bool is_writable() const override { return wait(POLLOUT, sent_by_); }
  ssize_t read(char* to, size_t n) override {
    n = std::min<uint64_t>(n, left_);
    if (n == 0) {
      end_with_this();
      return -1;
    }
    const ssize_t got = read_some(to, n);
    left_ -= static_cast<uint64_t>(std::max<ssize_t>(got, 0));
    return got;
  }
  ssize_t write(const char* from, size_t n) override {
    if (!std::exchange(answers_, true))
      sent_by_ = std::chrono::steady_clock::now() + whole_;
    for (;;) {
      if (!wait(POLLOUT, sent_by_))
        return -1;
      const ssize_t sent = ::send(fd_, from, n, MSG_NOSIGNAL | MSG_DONTWAIT);  // A call that blocks would not know of the time.
      if (sent >= 0 || !again())
        return sent;
    }
  }
  // Requests do not show who sent them.
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  /// Is compared with FD_SETSIZE and used for nothing else: the library's own connections wait by select, this one does not.
  socket_t socket() const override { return std::min(fd_, FD_SETSIZE - 1); }

 private:
  ssize_t read_some(char* to, size_t n) {
    if (!has_read_ahead()) {
      const bool direct = n >= sizeof buffer_;
      const ssize_t got = receive(direct ? to : buffer_, direct ? n : sizeof buffer_);
      if (direct || got <= 0)
        return got;
      begin_ = 0, end_ = static_cast<size_t>(got);
    }
    const size_t taken = std::min(n, end_ - begin_);
    std::memcpy(to, buffer_ + begin_, taken);
    begin_ += taken;
    return static_cast<ssize_t>(taken);
  }
  static bool again() { return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK; }
  bool wait(short events, std::chrono::steady_clock::time_point until) const {
    return wait_for(fd_, events, std::min(until, std::chrono::steady_clock::now() + piece_));
  }
  ssize_t receive(char* to, size_t n) {
    answers_ = false;  // "100 Continue", if it was sent, is not the answer.
    for (;;) {
      if (!wait(POLLIN, received_by_))
        return -1;
      const ssize_t got = ::recv(fd_, to, n, MSG_DONTWAIT);
      if (got >= 0 || !again())
        return got;
    }
  }

  const int fd_;
  const duration piece_, whole_;
  const uint64_t bytes_;
  std::chrono::steady_clock::time_point received_by_{}, sent_by_{};
  uint64_t left_ = 0;
  bool answers_ = false, ends_ = false;
  char buffer_[4096];
  size_t begin_ = 0, end_ = 0;
};

}  // namespace troupe
