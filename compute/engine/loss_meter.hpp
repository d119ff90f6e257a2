// Averages losses in float64: over replicas by the fixed pairwise tree, over steps in step order; and says what a mean
// cross-entropy means.
#pragma once

#include <cstdint>
#include <span>

namespace troupe {

class loss_meter {
 public:
  void add(double loss) noexcept {
    sum_ += loss;
    last_ = loss;
    ++count_;
  }
  double last() const noexcept { return last_; }
  double mean() const noexcept { return count_ ? sum_ / static_cast<double>(count_) : 0; }
  int64_t count() const noexcept { return count_; }
  void clear() noexcept {
    sum_ = 0;
    count_ = 0;
  }

 private:
  double sum_ = 0, last_ = 0;
  int64_t count_ = 0;
};

/// The mean, summed by the pairwise tree ((a+b)+(c+d))+…: two replicas of two shards each give the same bits as one
/// replica of four.
inline double tree_mean(std::span<const double> values) {
  struct tree {
    static double sum(std::span<const double> v) {
      if (v.size() == 1)
        return v[0];
      size_t half = 1;
      while (half * 2 < v.size())
        half *= 2;
      return sum(v.first(half)) + sum(v.subspan(half));
    }
  };
  return values.empty() ? 0 : tree::sum(values) / static_cast<double>(values.size());
}

/// Of a mean cross-entropy in nats: e to its power.
double perplexity(double loss);
/// The same in bits, where the loss is of characters.
double bits_per_character(double loss);

}  // namespace troupe
