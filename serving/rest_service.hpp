// The responses of a server as a function of a request: TensorFlow Serving's REST paths, /metrics and /healthz. See
// docs/serving.md.
#pragma once

#include "serving/http_listener.hpp"
#include "serving/served_versions.hpp"
#include "serving/server_metrics.hpp"

namespace troupe {

/// GET of these paths is answered at once, even while predictions are computed.
inline constexpr const char* health_paths[] = {"/healthz", "/metrics"};

/// Any thread. `versions`, `metrics` and `memory` outlive it. If `memory` is null, memory is unbounded.
class rest_service {
 public:
  rest_service(std::string model, int64_t request_rows_max, const served_versions& versions, server_metrics& metrics,
               request_memory* memory = nullptr)
    : model_(std::move(model)), request_rows_max_(request_rows_max), versions_(versions), metrics_(metrics),
      memory_(memory) {}

  /// Which paths one address serves.
  enum class paths : uint8_t { all, models, health };
  http_response answer(const http_request& request, paths there = paths::all);
  /// The response to a request that is refused before it is handled; made for `http_options::refuse`.
  http_response refuse(int status, std::string_view reason);
  /// From then on /healthz tells load balancers to send no more requests; requests that still come are answered.
  void drain() noexcept { draining_ = true; }

 private:
  http_response answer_health(const http_request& request) const;
  http_response no_path(const std::string& path, paths there) const;
  http_response answer_model(const http_request& request, const std::string& rest, std::string& method);
  http_response predict(request_body& body, const served_version& version) const;
  http_response health() const;

  std::string model_;
  int64_t request_rows_max_;
  const served_versions& versions_;
  server_metrics& metrics_;
  request_memory* memory_;
  std::atomic<bool> draining_{false};
};

}  // namespace troupe
