// Sums of many float64 numbers whose error does not grow with their number: compensated (Kahan-Babuška) summation,
// Neumaier 1974.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace troupe {

/// One sum for each element of an array. The error of a sum is at most about 2^-53 of itself and 2^-100 of the sum of
/// absolute values per number added. Infinities and NaN come out as in an ordinary sum.
class compensated_sums {
 public:
  explicit compensated_sums(int64_t elements = 0)
    : sums_(static_cast<size_t>(elements), 0.0), rests_(static_cast<size_t>(elements), 0.0) {}

  int64_t elements() const noexcept { return static_cast<int64_t>(sums_.size()); }
  void clear() noexcept {
    sums_.assign(sums_.size(), 0.0);
    rests_.assign(rests_.size(), 0.0);
  }
  /// Adds `x[i]` to sum i for every i.
  template <class T>
  void add(const T* x) noexcept {
    for (size_t i = 0; i < sums_.size(); ++i) {
      const auto next = static_cast<double>(x[i]);
      const double sum = sums_[i] + next;
      rests_[i] += std::abs(sums_[i]) >= std::abs(next) ? (sums_[i] - sum) + next : (next - sum) + sums_[i];
      sums_[i] = sum;
    }
  }
  /// Adds the sums of `other`, which must have the same number of elements.
  void add(const compensated_sums& other) noexcept {
    add(other.sums_.data());
    for (size_t i = 0; i < rests_.size(); ++i)
      rests_[i] += other.rests_[i];
  }
  double operator[](size_t i) const noexcept { return std::isfinite(sums_[i]) ? sums_[i] + rests_[i] : sums_[i]; }

 private:
  std::vector<double> sums_, rests_;
};

}  // namespace troupe
