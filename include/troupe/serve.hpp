// Serves exported models over HTTP, with the REST interface of TensorFlow Serving (docs/serving.md).
// Not needed to begin with.
//
//   auto server = tr::model_server::start("runs/fashion/export/latest", {.port = 8501});
//   ...                                            // POST /v1/models/latest:predict {"instances": [...]}
//   server->drain();                               // answers all requests that have begun, then ends
//
// The newest export answers. A newer one that is added later takes over without a dropped request.
#pragma once

#include <troupe/error.hpp>

#include <functional>
#include <memory>
#include <optional>

namespace troupe {

/// Options of a server. The end of a name is the unit. A request beyond a limit is refused.
struct serve_options {
  std::string host = "127.0.0.1";           ///< The address to listen on. The default serves this host only.
  int64_t port = 8501;                      ///< 0: any free one.
  std::optional<int64_t> health_port = {};  ///< The port of /healthz and /metrics; 0: any free one; absent: `port`.
  std::optional<std::string> name = {};  ///< The model's name in URLs; absent: the last part of the directory's path.
  int64_t batch_rows_max = 64;           ///< Most rows of several requests that are computed in one batch.
  double batch_delay_ms = 0;             ///< How long a request waits for others. 0: only waiting ones join.
  int64_t threads = 1;                   ///< Batches of one signature that are computed at a time.
  int64_t request_rows_max = 4096;       ///< Most rows of a request.
  int64_t body_bytes_max = int64_t{16} << 20;   ///< Most bytes of a request's body.
  int64_t memory_bytes_max = int64_t{1} << 30;  ///< Most bytes of bodies, tensors and answers of all requests at work.
  int64_t connections_max = 64;  ///< Connections answered at a time, each by a thread; 4 × as many may idle.
  int64_t requests_max = 1024;   ///< Most requests that wait for a thread, and for the batch of a signature.
  double read_secs = 5;          ///< Longest time between two pieces of a request.
  double request_secs = 60;      ///< Longest time to receive a request, and to send its answer.
  double idle_secs = 30;         ///< A connection without a request for this long is closed.
  double wait_secs = 10;         ///< A request that has waited this long for its turn is refused.
  double poll_secs = 1;          ///< Time between two checks for a newer export.

  friend bool operator==(const serve_options&, const serve_options&) = default;
};

/// An event of a server. version: a new version answers from now on. warning: an export cannot be used. failed, once:
/// the system refuses further connections (no memory, no descriptors); drain the server and start another.
struct serve_event {
  enum class kind : uint8_t { version, warning, failed };
  kind what = kind::version;
  int64_t version = 0;
  std::string text = {};  ///< The problem; empty for a version.
};

/// A move-only handle of a running server. Any thread may call. One that was moved from has port 0 and no name.
class TROUPE_API model_server {
 public:
  /// Starts a server. `directory` is an export, which is served for good; a directory of exports (named by numbers); or
  /// a model directory with exports below export/. `told` is called on a thread of the server. invalid_argument: an
  /// option out of range; not_found: no export; unavailable: the address cannot be used; unimplemented: the HTTP module
  /// is not installed; errors of the newest export.
  static expected<model_server> start(const std::string& directory, const serve_options& options = {},
                                      std::function<void(const serve_event&)> told = {});
  model_server(model_server&&) noexcept;
  model_server& operator=(model_server&&) noexcept;
  ~model_server();  ///< Drains.

  int port() const;
  int health_port() const;  ///< `port()`, unless a health_port was given.
  const std::string& name() const;
  int64_t version() const;  ///< Of the export that answers.
  /// Accepts no further connections, and returns when every request that has begun is answered.
  void drain();

  struct impl;
  explicit model_server(std::unique_ptr<impl> i);

 private:
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe
