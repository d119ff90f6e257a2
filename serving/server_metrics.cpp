#include "serving/server_metrics.hpp"

#include "words/prometheus_text.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

void server_metrics::answered(const std::string& method, int status, double seconds) {
  const auto at = static_cast<size_t>(std::lower_bound(limits.begin(), limits.end(), seconds) - limits.begin());
  const std::lock_guard held{guard_};
  ++requests_[{method, status}];
  auto& t = times_[method];
  ++t.counts[at];
  t.sum += seconds;
}

void server_metrics::computed(int64_t rows) {
  rows_ += rows;
  ++batches_;
}

std::string server_metrics::text(int64_t version, int64_t waiting, int64_t bytes) const {
  using kind = prometheus_text::kind;
  prometheus_text all;
  const auto single = [&all](std::string_view name, int64_t value, std::string_view help, kind what = kind::counter) {
    all.begin(name, what, help);
    all.add(value);
  };
  const std::lock_guard held{guard_};
  all.begin("troupe_serve_requests_total", kind::counter, "Requests that were answered.");
  for (const auto& [key, count] : requests_)
    all.add(count, {{"method", key.first}, {"code", std::to_string(key.second)}});
  all.begin("troupe_serve_request_seconds", kind::histogram, "Time from the last byte of a request to its answer.");
  for (const auto& [method, t] : times_) {
    int64_t below = 0;
    for (size_t i = 0; i < t.counts.size(); ++i) {
      below += t.counts[i];
      const std::string limit = i < limits.size() ? shortest_text(limits[i]) : "+Inf";
      all.add(below, {{"method", method}, {"le", limit}}, "_bucket");
    }
    all.add(t.sum, {{"method", method}}, "_sum");
    all.add(below, {{"method", method}}, "_count");
  }
  single("troupe_serve_rows_total", rows_, "Rows that were computed.");
  single("troupe_serve_batches_total", batches_, "Batches in which they were computed.");
  single("troupe_serve_version_swaps_total", swaps_, "Versions that began to answer.");
  single("troupe_serve_model_version", version, "The version that answers; -1: none.", kind::gauge);
  single("troupe_serve_waiting_requests", waiting, "Requests that wait for a batch.", kind::gauge);
  single("troupe_serve_request_bytes", bytes, "Memory of bodies, tensors and answers of the requests in work.",
         kind::gauge);
  return all.text();
}

}  // namespace troupe
