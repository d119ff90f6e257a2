#include "modules/http/connection.hpp"

#include <climits>

#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace troupe {

namespace {

constexpr size_t piece_bytes = 16384;

bool again() { return errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK; }

}  // namespace

bool wait_for(int fd, short events, steady::time_point until, int also) {
  for (;;) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - steady::now()).count();
    if (left <= 0)
      return false;  // Also for a ready `fd`: a client that is always ready must have a deadline.
    pollfd waited[] = {{fd, events, 0}, {also, POLLIN, 0}};
    const int ready = ::poll(waited, 2, static_cast<int>(std::min<int64_t>(left, INT_MAX)));
    if (ready < 0 && errno == EINTR)
      continue;
    return ready > 0;
  }
}

void connection::await_request() {
  head_.reset();
  search_ = {};
  passed_over_ = false;
  since_ = last_ = steady::now();
}

bool connection::receive() {
  char piece[piece_bytes];
  if (!lingers_)
    came_.reserve(came_.size() + sizeof piece);  // Before `recv`: received bytes need room.
  const ssize_t got = ::recv(fd(), piece, sizeof piece, MSG_DONTWAIT);
  if (got <= 0)
    return got < 0 && again();
  last_ = steady::now();
  if (lingers_)
    return (dropped_ += static_cast<uint64_t>(got)) <= limits_.body_bytes;
  if (came_.empty())
    since_ = last_;
  came_.append(piece, static_cast<size_t>(got));
  return true;
}

or_refusal<bool> connection::look() {
  if (head_)
    return true;
  if (refused_)
    return tl::unexpected{*refused_};
  if (!passed_over_ && came_.starts_with("\r\n")) {
    came_.erase(0, 2);
    passed_over_ = true;
  }
  auto size = search_.look(came_);
  if (size && *size == 0)
    return false;
  auto head = size ? read_head(std::string_view{came_}.substr(0, *size)) : tl::unexpected{std::move(size.error())};
  if (!head) {
    refused_ = std::move(head.error());
    return tl::unexpected{*refused_};
  }
  head_ = std::move(*head);
  came_.erase(0, *size);
  return true;
}

steady::time_point connection::deadline() const {
  if (lingers_)
    return std::min(since_ + limits_.whole, last_ + gap_);
  return has_begun() ? std::min(since_ + limits_.whole, last_ + limits_.piece) : since_ + limits_.idle;
}

void connection::begin() { since_ = steady::now(); }

ssize_t connection::read(char* to, size_t n) {
  if (!came_.empty()) {
    const size_t taken = came_.copy(to, n);
    came_.erase(0, taken);
    return static_cast<ssize_t>(taken);
  }
  const auto until = since_ + limits_.whole;
  for (;;) {
    const ssize_t got = ::recv(fd(), to, n, MSG_DONTWAIT);
    if (got >= 0)
      return steady::now() < until ? got : -1;
    if (!again() || !wait_for(fd(), POLLIN, std::min(until, steady::now() + limits_.piece)))
      return -1;
  }
}

bool connection::write(std::string_view first, std::string_view second, steady::duration patience) {
  const auto until = steady::now() + limits_.whole;
  for (;;) {
    iovec parts[] = {{const_cast<char*>(first.data()), first.size()},
                     {const_cast<char*>(second.data()), second.size()}};
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = 2;
    // Does not block: a blocking call would ignore the deadline.
    const ssize_t sent = ::sendmsg(fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent < 0 && !again())
      return false;
    const size_t n = static_cast<size_t>(std::max<ssize_t>(sent, 0)), of_first = std::min(n, first.size());
    first.remove_prefix(of_first);
    second.remove_prefix(n - of_first);
    if (first.empty() && second.empty())
      return true;
    if (!wait_for(fd(), POLLOUT, std::min(until, steady::now() + patience)))
      return false;
  }
}

bool connection::linger(steady::duration gap) {
  ::shutdown(fd(), SHUT_WR);
  came_ = {};
  lingers_ = true;
  since_ = last_ = steady::now();
  gap_ = gap;
  return receive();
}

}  // namespace troupe
