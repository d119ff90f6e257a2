// What a server answers: TensorFlow Serving's REST paths, /metrics and /healthz, as a function of a request. docs/serving.md.
#pragma once

#include "serving/http_listener.hpp"
#include "serving/served_versions.hpp"
#include "serving/server_metrics.hpp"

namespace troupe {

/// GET of these is answered at once, whatever predictions do.
inline constexpr const char* health_paths[] = {"/healthz", "/metrics"};

/// Any thread may ask. `versions`, `metrics` and `memory` outlive it; null: memory is unbounded.
class rest_service {
 public:
  rest_service(std::string model, int64_t request_rows_max, const served_versions& versions, server_metrics& metrics, request_memory* memory = nullptr)
    : model_(std::move(model)), request_rows_max_(request_rows_max), versions_(versions), metrics_(metrics), memory_(memory) {}

  /// What is asked for at one address.
  enum class paths : uint8_t { all, models, health };
  http_response answer(const http_request& request, paths there = paths::all);
  /// The answer to what is no request that is handled, as `http_options::refuse` wants it.
  http_response refuse(int status, std::string_view reason);
  /// From now on /healthz says that no further requests should come; those that come are answered.
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
