// A connection of cpp-httplib's server whose requests have a time in which they must be whole. The library bounds only the wait for
// each piece, so that a client which sends a byte in each of them would hold a thread for as long as it likes.
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

/// Waits until `fd` is ready for `events`, or `also` can be read (-1: none); false when `until` passes before, and on errors.
inline bool wait_for(int fd, short events, std::chrono::steady_clock::time_point until, int also = -1) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - std::chrono::steady_clock::now()).count();
    pollfd waited[] = {{fd, events, 0}, {also, POLLIN, 0}};
    const int ready = ::poll(waited, 2, static_cast<int>(std::clamp<int64_t>(left, 0, INT_MAX)));
    if (ready < 0 && errno == EINTR)
      continue;
    return ready > 0 && waited[0].revents != 0;
  }
}

class timed_connection final : public httplib::Stream {
 public:
  using duration = std::chrono::steady_clock::duration;

  /// `piece`: between two pieces of a request, and of an answer; `whole`: for all of a request, and for all of its answer.
  timed_connection(int fd, duration piece, duration whole) : fd_(fd), piece_(piece), whole_(whole) {}

  bool has_read_ahead() const { return begin_ < end_; }  ///< Of the next request.
  void begin_request() {
    until_ = std::chrono::steady_clock::now() + whole_;
    answers_ = false;
  }

  bool is_readable() const override { return has_read_ahead() || wait(POLLIN); }
  bool is_writable() const override { return wait(POLLOUT); }
  ssize_t read(char* to, size_t n) override {
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
  ssize_t write(const char* from, size_t n) override {
    if (!std::exchange(answers_, true))
      until_ = std::chrono::steady_clock::now() + whole_;
    for (;;) {
      if (!wait(POLLOUT))
        return -1;
      const ssize_t sent = ::send(fd_, from, n, MSG_NOSIGNAL | MSG_DONTWAIT);  // A call that blocks would not know of the time.
      if (sent >= 0 || !again())
        return sent;
    }
  }
  // Requests do not show who sent them.
  void get_remote_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  void get_local_ip_and_port(std::string& ip, int& port) const override { ip.clear(), port = 0; }
  socket_t socket() const override { return fd_; }

 private:
  static bool again() { return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK; }
  bool wait(short events) const { return wait_for(fd_, events, std::min(until_, std::chrono::steady_clock::now() + piece_)); }
  ssize_t receive(char* to, size_t n) {
    for (;;) {
      if (!wait(POLLIN))
        return -1;
      const ssize_t got = ::recv(fd_, to, n, MSG_DONTWAIT);
      if (got >= 0 || !again())
        return got;
    }
  }

  const int fd_;
  const duration piece_, whole_;
  std::chrono::steady_clock::time_point until_{};
  bool answers_ = false;
  char buffer_[4096];
  size_t begin_ = 0, end_ = 0;
};

}  // namespace troupe
