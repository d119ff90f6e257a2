// The interface of an HTTP server, which the module libtroupe_http implements. Code that uses it needs no HTTP library.
#pragma once

#include "serving/request_body.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

struct http_request {
  const std::string& method;  ///< Such as "GET".
  const std::string& path;    ///< Decoded, without the query: "/v1/models/a:predict".
  request_body& body;         ///< The handler may release it once it has read it.
};

struct http_response {
  int status = 200;
  std::string body = {};
  std::string content_type = "application/json";
  memory_share memory = memory_share{};  ///< The body's share of the memory bound; held until the body has been sent.
};

using http_handler = std::function<http_response(const http_request&)>;  ///< Called on many threads at once.

struct http_options {
  std::string host = "127.0.0.1";
  int port = 0;  ///< 0: any free port.
  int64_t body_bytes_max = 0;
  request_memory* memory = nullptr;  ///< Bounds the memory of the bodies; outlives the listener. Null: unbounded.
  /// How many connections are answered at one time, with one thread each. Four times as many may be open without a
  /// request.
  int64_t connections_max = 0;
  int64_t requests_max = 0;  ///< How many may wait for one of these threads; more are refused with 503.
  /// Paths whose GET and HEAD requests have threads of their own, so that they are answered even while all other
  /// threads are busy. The handler must not block on these paths.
  std::vector<std::string> apart = {};
  double read_secs = 0;     ///< The longest pause between two pieces of a request, or of a response.
  double request_secs = 0;  ///< The limit for a whole request, and again for its response.
  double idle_secs = 0;     ///< An idle connection is closed after this time.
  /// Required. Makes the response to a request that cannot be handled, such as a malformed or oversized one: with that
  /// status, in the form of the other responses. `reason` may be empty. Any thread.
  std::function<http_response(int status, std::string_view reason)> refuse = {};
};

class http_listener {
 public:
  virtual ~http_listener() = default;
  virtual int port() const = 0;
  /// True while connections are accepted, or will be once `run` is called; false after the system has refused to accept
  /// more. Any thread.
  virtual bool listens() const = 0;
  /// Accepts connections until `stop`, then returns once every request that has begun is answered.
  virtual void run() = 0;
  /// Any thread, also before `run`.
  virtual void stop() = 0;
};

/// The function that the module exports under the name "troupe_http_listen". If the address cannot be taken, it returns
/// null and sets `reason`.
using http_listen = http_listener* (*)(const http_options& options, const http_handler& handler, std::string& reason);

}  // namespace troupe
