// A server with its threads: one accepts connections, one looks for newer versions. Made by `model_server::start`;
// tests pass versions of their own.
#pragma once

#include "serving/http_listener.hpp"
#include "serving/rest_service.hpp"

#include <troupe/serve.hpp>

#include <thread>

namespace troupe {

class running_server {
 public:
  /// Opens the newest version and listens; errors of both. `options` have been checked.
  static expected<std::unique_ptr<running_server>> start(std::unique_ptr<version_source> versions, std::string name,
                                                         const serve_options& options,
                                                         std::function<void(const serve_event&)> told);
  ~running_server() { drain(); }
  running_server(const running_server&) = delete;
  running_server& operator=(const running_server&) = delete;

  int port() const { return listener_->port(); }
  int health_port() const { return (health_ ? health_ : listener_)->port(); }
  const std::string& name() const noexcept { return name_; }
  int64_t version() const { return versions_.current()->number(); }
  void drain();

 private:
  running_server(std::unique_ptr<version_source> versions, std::string name, const serve_options& options,
                 std::function<void(const serve_event&)> told);
  expected<void> listen(const serve_options& options);
  expected<void> look();
  void look_at_listener();
  void look_again(std::chrono::nanoseconds every);

  std::string name_;
  std::function<void(const serve_event&)> told_;
  request_memory memory_;
  server_metrics metrics_;
  served_versions versions_;
  rest_service service_;
  std::unique_ptr<http_listener> listener_, health_;  ///< `health_` is set only if health has a port of its own.
  std::thread accepting_, accepting_health_, looking_;
  std::mutex guard_;
  std::condition_variable ended_changed_;
  bool ended_ = false;
  bool deaf_ = false;  ///< A failed listener has been reported. Used only by the thread that looks.
};

}  // namespace troupe
