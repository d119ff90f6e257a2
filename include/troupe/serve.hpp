// Serving exported models over HTTP, in the forms of TensorFlow Serving's REST interface (docs/serving.md).
// Not needed to begin with.
//
//   auto server = tr::model_server::start("runs/fashion/export/latest", {.port = 8501});
//   ...                                            // POST /v1/models/latest:predict {"instances": [...]}
//   server->drain();                               // answers what has come, then ends
//
// The newest export answers; one that is added later takes over while requests are answered, and none is dropped.
#pragma once

#include <troupe/error.hpp>

#include <functional>
#include <memory>
#include <optional>

namespace troupe {

struct serve_options {
  std::string host = "127.0.0.1";
  int64_t port = 8501;                     ///< 0: any that is free.
  std::optional<int64_t> health_port = {}; ///< Of /healthz and /metrics, which are at `port` unless given; 0: any that is free.
  std::optional<std::string> name = {};    ///< Of the model, in paths; the last part of the directory's, where absent.
  int64_t batch_rows_max = 64;             ///< Rows of different requests that are computed together.
  double batch_delay_ms = 0;               ///< What a request waits for others to come; 0: those that wait anyway are computed together.
  int64_t threads = 1;                     ///< Batches of one signature that are computed at one time.
  int64_t request_rows_max = 4096;
  int64_t body_bytes_max = int64_t{16} << 20;
  int64_t memory_bytes_max = int64_t{1} << 30;  ///< Of all requests in work: bodies, tensors and answers; more are refused.
  int64_t connections_max = 64;            ///< Answered at one time, a thread each. Four times as many may be without a request.
  int64_t requests_max = 1024;             ///< That wait for a thread, and for a batch of one signature; more are refused.
  double read_secs = 5;                    ///< Between two pieces of a request.
  double request_secs = 60;                ///< For the whole of a request, and as long for its answer.
  double idle_secs = 30;                   ///< A connection without a request is closed.
  double wait_secs = 10;                   ///< A request that has no turn for so long is refused.
  double poll_secs = 1;                    ///< Between two looks for a newer export.

  friend bool operator==(const serve_options&, const serve_options&) = default;
};

/// What a server tells its program: a version that answers from now on, what is wrong with one, or that the server accepts no connection any
/// more, since the system has refused to (no memory, no descriptors): drain it and start another. This last event comes once.
struct serve_event {
  enum class kind : uint8_t { version, warning, failed };
  kind what = kind::version;
  int64_t version = 0;
  std::string text = {};                   ///< What is wrong; empty for a version.
};

/// A running server; move-only. Any thread.
class TROUPE_API model_server {
 public:
  /// `directory` is an export, a directory of exports (named by numbers), or a model directory with exports below export/; a fixed export
  /// stays. invalid_argument: an option out of its range; not_found: no export; unavailable: the address; unimplemented: the module
  /// for HTTP is not there; errors of the newest export. `told` is called on a thread of the server's.
  static expected<model_server> start(const std::string& directory, const serve_options& options = {},
                                      std::function<void(const serve_event&)> told = {});
  model_server(model_server&&) noexcept;
  model_server& operator=(model_server&&) noexcept;
  ~model_server();  ///< Drains.

  int port() const;
  int health_port() const;  ///< `port()`, where it has none of its own.
  const std::string& name() const;
  int64_t version() const;
  /// Accepts no further connection, answers every request that has begun, and returns then.
  void drain();

  struct impl;
  explicit model_server(std::unique_ptr<impl> i);

 private:
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe
