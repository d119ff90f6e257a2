// Which requests are computed together, and when: a plain queue. The caller passes the time, so that a test can choose
// it.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace troupe {

struct batch_limits {
  int64_t rows_max = 64;                  ///< Of one batch. A request with more rows is a batch by itself.
  std::chrono::nanoseconds delay_max{0};  ///< How long the oldest request waits for a full batch.
  int64_t requests_max = 1024;            ///< How many requests may wait at one time.
};

/// Requests in order of arrival. Times count from any fixed moment.
class batch_queue {
 public:
  using time = std::chrono::nanoseconds;

  explicit batch_queue(batch_limits limits) : limits_(limits) {}

  /// False if `requests_max` requests wait already.
  bool push(uint64_t id, int64_t rows, time now);
  /// Whether a batch is to be computed now: the batch is full, or its oldest request has waited long enough.
  bool is_due(time now) const;
  /// The latest time at which the next batch is due; absent if nobody waits.
  std::optional<time> due_at() const;
  /// Removes the oldest requests that fit into one batch, at least one, and returns them in order.
  std::vector<uint64_t> take();
  /// False if the request does not wait here.
  bool remove(uint64_t id);

  /// The request that has waited longest.
  std::optional<uint64_t> oldest() const;
  int64_t requests() const noexcept { return static_cast<int64_t>(waiting_.size()); }
  int64_t rows() const noexcept { return rows_; }

 private:
  struct request {
    uint64_t id = 0;
    int64_t rows = 0;
    time since{};
  };
  batch_limits limits_;
  std::deque<request> waiting_;
  int64_t rows_ = 0;
};

}  // namespace troupe
