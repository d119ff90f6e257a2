// Sums over the rows of a matrix, column by column: for bias gradients, means over a batch, batch normalisation.
#pragma once

#include <cstdint>

namespace troupe {

/// What a sum is multiplied by, and then divided by.
struct sum_ratio {
  double factor = 1, divisor = 1;
};

/// y[j] = the sum over r < rows of x[r * stride + j], scaled by the ratio, for j < columns. Up to 512 rows are added in
/// two chains, more in blocks of 64 rows whose sums are added in float64: the error does not grow with the number of
/// rows. The order depends on `rows` alone.
template <class T>
void sum_columns(const T* x, int64_t rows, int64_t columns, int64_t stride, T* y, const sum_ratio& by);

}  // namespace troupe
