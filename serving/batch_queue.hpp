// Which requests are computed together, and when: a plain queue that is told the time, so that a test moves it by hand.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

namespace troupe {

struct batch_limits {
  int64_t rows_max = 64;                       ///< Of a batch; a request with more is one by itself.
  std::chrono::nanoseconds delay_max{0};       ///< What the oldest request waits for others, where the batch is not full before.
  int64_t requests_max = 1024;                 ///< That may wait at one time.
};

/// Requests in the order in which they came. Times are since any one moment.
class batch_queue {
 public:
  using time = std::chrono::nanoseconds;

  explicit batch_queue(batch_limits limits) : limits_(limits) {}

  /// False: as many wait as may.
  bool push(uint64_t id, int64_t rows, time now);
  /// Whether a batch is to be computed now: it is full, or its oldest request has waited long enough.
  bool is_due(time now) const;
  /// When the next one is due at the latest; absent: nobody waits.
  std::optional<time> due_at() const;
  /// Removes the oldest requests that fit into one batch, at least one, and returns them in order.
  std::vector<uint64_t> take();
  /// False: it does not wait, or no longer.
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
