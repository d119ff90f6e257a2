// A server of HTTP, as the module libtroupe_http implements it: whoever makes one needs no library for it.
#pragma once

#include "serving/request_body.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace troupe {

struct http_request {
  const std::string& method;            ///< "GET"
  const std::string& path;              ///< Decoded, without the query: "/v1/models/a:predict".
  request_body& body;                   ///< The handler may release it once it has read it.
};

struct http_response {
  int status = 200;
  std::string body = {};
  std::string content_type = "application/json";
  memory_share memory = memory_share{};  ///< Of the body; held until it has been sent.
};

using http_handler = std::function<http_response(const http_request&)>;  ///< Called on many threads.

struct http_options {
  std::string host = "127.0.0.1";
  int port = 0;                         ///< 0: any that is free.
  int64_t body_bytes_max = 0;
  request_memory* memory = nullptr;     ///< Of which bodies are a part; outlives the listener. Null: unbounded.
  int64_t connections_max = 0;          ///< Answered at one time, a thread each. Four times as many may be without a request.
  int64_t requests_max = 0;             ///< That wait for one of these threads; more are refused with 503.
  /// Paths whose GET and HEAD have threads of their own, so that they are answered whatever others do. The handler does not wait for them.
  std::vector<std::string> apart = {};
  double read_secs = 0;                 ///< Between two pieces of a request, and of an answer.
  double request_secs = 0;              ///< For the whole of a request, and as long for its answer.
  double idle_secs = 0;                 ///< A connection without a request is closed after so long.
  /// Has to be there: the answer to what is no request that is handled, with that status, in the form of the other answers. `reason` may be
  /// empty. Any thread.
  std::function<http_response(int status, std::string_view reason)> refuse = {};
};

class http_listener {
 public:
  virtual ~http_listener() = default;
  virtual int port() const = 0;
  /// Whether connections are accepted, or will be by `run`; false once the system has refused to accept more. Any thread.
  virtual bool listens() const = 0;
  /// Accepts until `stop`, then returns once every request that has begun is answered.
  virtual void run() = 0;
  /// Any thread, also before `run`.
  virtual void stop() = 0;
};

/// What the module exports under the name "troupe_http_listen": null, with the reason, where the address cannot be taken.
using http_listen = http_listener* (*)(const http_options& options, const http_handler& handler, std::string& reason);

}  // namespace troupe
