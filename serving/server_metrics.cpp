#include "serving/server_metrics.hpp"

#include "words/text.hpp"

#include <algorithm>

namespace troupe {

namespace {

void head(std::string& text, const std::string& name, const std::string& type, const std::string& help) {
  text.append("# HELP ")
      .append(name)
      .append(" ")
      .append(help)
      .append("\n# TYPE ")
      .append(name)
      .append(" ")
      .append(type)
      .append("\n");
}

void counter(std::string& text, const std::string& name, int64_t value, const std::string& help,
             const std::string& type = "counter") {
  head(text, name, type, help);
  text.append(name).append(" ").append(std::to_string(value)).append("\n");
}

}  // namespace

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
  std::string text;
  const std::lock_guard held{guard_};
  head(text, "troupe_serve_requests_total", "counter", "Requests that were answered.");
  for (const auto& [key, count] : requests_)
    text += "troupe_serve_requests_total{method=\"" + key.first + "\",code=\"" + std::to_string(key.second) + "\"} "
            + std::to_string(count) + "\n";
  const std::string seconds = "troupe_serve_request_seconds";
  head(text, seconds, "histogram", "Time from the last byte of a request to its answer.");
  for (const auto& [method, t] : times_) {
    int64_t below = 0;
    for (size_t i = 0; i < t.counts.size(); ++i) {
      below += t.counts[i];
      const std::string limit = i < limits.size() ? shortest_text(limits[i]) : "+Inf";
      text += seconds + "_bucket{method=\"" + method + "\",le=\"" + limit + "\"} " + std::to_string(below) + "\n";
    }
    text += seconds + "_sum{method=\"" + method + "\"} " + shortest_text(t.sum) + "\n";
    text += seconds + "_count{method=\"" + method + "\"} " + std::to_string(below) + "\n";
  }
  counter(text, "troupe_serve_rows_total", rows_, "Rows that were computed.");
  counter(text, "troupe_serve_batches_total", batches_, "Batches in which they were computed.");
  counter(text, "troupe_serve_version_swaps_total", swaps_, "Versions that began to answer.");
  counter(text, "troupe_serve_model_version", version, "The version that answers; -1: none.", "gauge");
  counter(text, "troupe_serve_waiting_requests", waiting, "Requests that wait for a batch.", "gauge");
  counter(text, "troupe_serve_request_bytes", bytes, "Memory of bodies, tensors and answers of the requests in work.",
          "gauge");
  return text;
}

}  // namespace troupe
