// Norms whose bits depend on the values alone, not on the thread or the slice.
#pragma once

#include <algorithm>
#include <cstdint>

namespace troupe {

/// Elements are summed in chunks of this many, counted from the beginning of the variable; the chunks' sums are then
/// added in order.
inline constexpr int64_t norm_chunk = 4096;

/// Σ f(i) for callers that know where f is 0: skipping such elements changes no bit.
class chunked_total {
 public:
  /// Adds the elements [first, last), multiples of 8, which must come after all earlier ones. A chunk has eight sums
  /// side by side.
  template <class F>
  void add(int64_t first, int64_t last, F f) {
    while (first < last) {
      if (first / norm_chunk != chunk_)
        end_chunk();
      chunk_ = first / norm_chunk;
      const int64_t end = std::min(last, (chunk_ + 1) * norm_chunk);
      double lane[8];
      std::copy(lanes_, lanes_ + 8, lane);
      for (; first < end; first += 8)
        for (int64_t l = 0; l < 8; ++l)
          lane[l] += f(first + l);
      std::copy(lane, lane + 8, lanes_);
    }
  }
  double total() {
    end_chunk();
    return sum_;
  }

 private:
  /// Folds the eight sums by halves.
  void end_chunk() {
    for (int width = 4; width > 0; width /= 2)
      for (int l = 0; l < width; ++l)
        lanes_[l] += lanes_[l + width];
    sum_ += lanes_[0];
    std::fill(lanes_, lanes_ + 8, 0.0);
  }

  double sum_ = 0, lanes_[8] = {};
  int64_t chunk_ = 0;
};

/// Σ f(i) over [0, n), n a multiple of 8.
template <class F>
double chunked_sum(int64_t n, F f) {
  chunked_total sum;
  sum.add(0, n, f);
  return sum.total();
}

/// Σ x² of a variable with its padding, which is 0.
template <class T>
double sum_of_squares(const T* x, int64_t n) {
  return chunked_sum(n, [x](int64_t i) {
    const auto value = static_cast<double>(x[i]);
    return value * value;
  });
}

}  // namespace troupe
