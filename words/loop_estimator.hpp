// How many steps a loop should have, so that it takes a given time: from the times of past loops, as TPUEstimator's
// IterationCountEstimator. It has no clock.
#pragma once

#include <troupe/error.hpp>

#include <deque>

namespace troupe {

/// A plain value, used by one thread at a time.
class loop_estimator {
 public:
  static constexpr int64_t standard_capacity = 20;
  /// An estimator of the last `capacity` loops. invalid_argument: less than 1.
  static expected<loop_estimator> make(int64_t capacity = standard_capacity);

  /// A loop has taken `runtime_secs` for `steps` steps. Ignored unless both are above 0.
  void add(double runtime_secs, int64_t steps);

  /// The steps for a loop of `total_secs`; 1 before the first loop. Once steps take steady time and loops are close to
  /// `total_secs`, the answer is kept. invalid_argument: not above 0, or not finite.
  expected<int64_t> steps_for(double total_secs);

 private:
  struct sample {
    double runtime_secs;
    double step_secs;
  };

  explicit loop_estimator(size_t capacity) : capacity_(capacity) {}
  bool is_settled(double total_secs) const;

  size_t capacity_;
  std::deque<sample> samples_;
  int64_t seen_ = 0;
  std::optional<int64_t> answer_;
};

}  // namespace troupe
