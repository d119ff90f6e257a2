// A socket with a client. Nothing blocks but the waits that say so, and each of these has an end: a client that sends a byte in each wait, or
// takes none of its answer, holds nobody for longer than a request may take.
#pragma once

#include "modules/http/descriptor.hpp"
#include "modules/http/request_head.hpp"

#include <chrono>
#include <optional>
#include <span>

namespace troupe {

using steady = std::chrono::steady_clock;

struct connection_limits {
  steady::duration piece{};      ///< Between two pieces of a request, and of an answer.
  steady::duration whole{};      ///< For all of a request, and for all of its answer.
  steady::duration idle{};       ///< Without a request.
  uint64_t body_bytes = 0;       ///< Of a body as it is sent: compressed, and with what chunks add.
};

/// Used by one thread at a time: that of the door, or one that answers its request.
class connection {
 public:
  /// `socket` does not block.
  connection(descriptor socket, const connection_limits& limits) : socket_(std::move(socket)), limits_(limits) { await_request(); }

  int fd() const { return socket_.fd(); }
  const connection_limits& limits() const { return limits_; }

  // -- between requests ----------------------------------------------------------

  void await_request();
  /// Takes up what has come. False: the client sends nothing any more.
  bool receive();
  /// Whether all of a request's head has come; what follows it stays. Then `head` has it. One empty line before it is passed over, since some
  /// clients end a body with one.
  or_refusal<bool> look();
  const std::optional<request_head>& head() const { return head_; }
  /// Whether a request has begun.
  bool has_begun() const { return !came_.empty(); }
  /// Until when the client may send nothing more.
  steady::time_point deadline() const;

  // -- a request ------------------------------------------------------------------

  /// The time of the request begins, now that there is a thread for it.
  void begin();
  /// The next bytes of a body, 0 at the end of the connection, -1 where they have not come in time.
  ssize_t read(char* to, size_t n);
  /// `read` has given bytes of the next request as well.
  void put_back(std::string_view bytes) { came_.insert(0, bytes); }
  /// False where the client has not taken all in time. `patience`: for each piece.
  bool write(std::string_view first, std::string_view second, steady::duration patience);

  // -- the end --------------------------------------------------------------------

  /// Sends nothing any more. What the client still sends is dropped for a while: a socket that is closed while something comes takes back the
  /// answer that was sent before. False: the client has closed as well.
  bool linger(steady::duration gap);
  bool lingers() const { return lingers_; }

 private:
  const descriptor socket_;
  const connection_limits limits_;
  std::string came_ = {};        ///< And is not read yet.
  head_search search_ = {};
  std::optional<request_head> head_ = {};
  std::optional<refusal> refused_ = {};
  steady::time_point since_{}, last_{};  ///< The begin of the phase; the last bytes in it.
  bool passed_over_ = false, lingers_ = false;
  steady::duration gap_{};
  uint64_t dropped_ = 0;
};

/// Waits until `fd` is ready for `events`, or `also` can be read (-1: none). False when `until` has passed, also for an `fd` that is ready,
/// and on errors.
bool wait_for(int fd, short events, steady::time_point until, int also = -1);

}  // namespace troupe
