// A socket with a client. Only the functions that say so block, and each of these waits has a limit: a client that
// sends one byte at a time, or does not read its response, holds a thread no longer than a whole request may take.
#pragma once

#include "modules/http/descriptor.hpp"
#include "modules/http/request_head.hpp"

#include <chrono>
#include <optional>
#include <span>

namespace troupe {

using steady = std::chrono::steady_clock;

struct connection_limits {
  steady::duration piece{};  ///< The longest pause between two pieces of a request, or of a response.
  steady::duration whole{};  ///< The limit for a whole request, and again for its response.
  steady::duration idle{};   ///< The limit for a connection without a request.
  uint64_t body_bytes = 0;   ///< The limit for a body as sent: with its compression and its chunk headers.
};

/// Used by one thread at a time: the thread of the door, or one that answers the request.
class connection {
 public:
  /// `socket` is non-blocking.
  connection(descriptor socket, const connection_limits& limits) : socket_(std::move(socket)), limits_(limits) {
    await_request();
  }

  int fd() const { return socket_.fd(); }
  const connection_limits& limits() const { return limits_; }

  // -- between requests ----------------------------------------------------------

  void await_request();
  /// Reads what has arrived, without blocking. False: the client sends no more.
  bool receive();
  /// Whether a request's head is complete; if so, `head` returns it, and the bytes after it are kept. One empty line
  /// before the head is skipped, since some clients end a body with one.
  or_refusal<bool> look();
  const std::optional<request_head>& head() const { return head_; }
  /// Whether a request has begun.
  bool has_begun() const { return !came_.empty(); }
  /// When the client must have sent more.
  steady::time_point deadline() const;

  // -- a request ------------------------------------------------------------------

  /// Starts the time limit of the request; called once a thread has taken it.
  void begin();
  /// The next bytes of a body: blocks until there are some. 0 at the end of the connection, -1 if they do not arrive in
  /// time.
  ssize_t read(char* to, size_t n);
  /// Returns bytes of the next request that `read` has read too far.
  void put_back(std::string_view bytes) { came_.insert(0, bytes); }
  /// Blocks. False if the client has not taken all bytes in time. `patience` is the limit for each piece.
  bool write(std::string_view first, std::string_view second, steady::duration patience);

  // -- the end --------------------------------------------------------------------

  /// Ends sending, then drops what the client still sends, for at most `gap` after its last bytes: if a socket is
  /// closed while bytes arrive, the client may lose the response that was sent before. False: the client has closed
  /// too.
  bool linger(steady::duration gap);
  bool lingers() const { return lingers_; }

 private:
  const descriptor socket_;
  const connection_limits limits_;
  std::string came_ = {};  ///< Received bytes that are not read yet.
  head_search search_ = {};
  std::optional<request_head> head_ = {};
  std::optional<refusal> refused_ = {};
  steady::time_point since_{}, last_{};  ///< The begin of the current phase, and the last bytes in it.
  bool passed_over_ = false, lingers_ = false;
  steady::duration gap_{};
  uint64_t dropped_ = 0;
};

/// Blocks until `fd` is ready for `events`, or `also` is readable (-1: none). False once `until` has passed, even if
/// `fd` is ready, and on errors.
bool wait_for(int fd, short events, steady::time_point until, int also = -1);

}  // namespace troupe
