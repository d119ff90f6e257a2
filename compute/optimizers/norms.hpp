// Norms whose bits depend on the values alone, whoever computes them.
#pragma once

#include <algorithm>
#include <cstdint>

namespace troupe {

/// Elements are added up in chunks of this many, counted from the beginning of the variable, and the chunks one after the other.
inline constexpr int64_t norm_chunk = 4096;

/// Σ f(i) over [0, n), n a multiple of 8: eight sums of a chunk side by side, folded by halves.
template <class F>
double chunked_sum(int64_t n, F f) {
  double sum = 0;
  for (int64_t first = 0; first < n; first += norm_chunk) {
    double lane[8] = {};
    for (int64_t i = first; i < std::min(first + norm_chunk, n); i += 8)
      for (int64_t l = 0; l < 8; ++l)
        lane[l] += f(i + l);
    for (int width = 4; width > 0; width /= 2)
      for (int l = 0; l < width; ++l)
        lane[l] += lane[l + width];
    sum += lane[0];
  }
  return sum;
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
