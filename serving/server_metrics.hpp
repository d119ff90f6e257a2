// The counters of a server, in the text format of Prometheus.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>

namespace troupe {

/// Any thread.
class server_metrics {
 public:
  /// Counts an answered request: `method` is "predict", "status", "metadata" or "other".
  void answered(const std::string& method, int status, double seconds);
  void computed(int64_t rows);  ///< Counts a batch.
  void swapped() { ++swaps_; }  ///< Counts a change of the version, the first included.

  /// The counters as text. `version` is the one that is served (-1: none), `waiting` counts requests, and `bytes` is
  /// what requests in progress hold.
  std::string text(int64_t version, int64_t waiting, int64_t bytes) const;

 private:
  static constexpr std::array<double, 12> limits{0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025,
                                                 0.05,   0.1,   0.25,   0.5,   1,    2.5};
  struct times {
    std::array<int64_t, limits.size() + 1> counts{};
    double sum = 0;
  };

  mutable std::mutex guard_;
  std::map<std::pair<std::string, int>, int64_t> requests_;
  std::map<std::string, times> times_;
  std::atomic<int64_t> rows_{0}, batches_{0}, swaps_{0};
};

}  // namespace troupe
