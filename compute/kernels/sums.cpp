#include "compute/kernels/sums.hpp"

#include "compute/kernels/simd.hpp"

namespace troupe {
namespace {

constexpr int64_t rows_in_chains = 512, rows_in_block = 64;

/// Sums `Packets` adjacent packets of columns over the rows in order: enough to fill cache lines, since the next row
/// may be far away.
template <int Packets, class T, class Load>
__attribute__((always_inline)) inline void add_rows(const T* x, int64_t rows, int64_t stride, Load load,
                                                    simd::packet<T> (&sums)[Packets]) {
  // Two chains for each packet hide the latency of addition; they are added at the end.
  simd::packet<T> odd[Packets];
  for (int p = 0; p < Packets; ++p)
    sums[p] = odd[p] = simd::set(T{0});
  int64_t r = 0;
  for (; r + 2 <= rows; r += 2)
    for (int p = 0; p < Packets; ++p) {
      sums[p] = simd::padd(sums[p], load(x + r * stride + p * simd::width<T>));
      odd[p] = simd::padd(odd[p], load(x + (r + 1) * stride + p * simd::width<T>));
    }
  for (int p = 0; p < Packets; ++p) {
    if (r < rows)
      sums[p] = simd::padd(sums[p], load(x + r * stride + p * simd::width<T>));
    sums[p] = simd::padd(sums[p], odd[p]);
  }
}

/// The same for any number of rows, scaled by the ratio.
template <int Packets, class T, class Load>
__attribute__((always_inline)) inline void add_and_scale(const T* x, int64_t rows, int64_t stride, Load load,
                                                         const sum_ratio& by, simd::packet<T> (&sums)[Packets]) {
  if (rows <= rows_in_chains) {
    add_rows(x, rows, stride, load, sums);
    const auto factor = simd::set(static_cast<T>(by.factor)), divisor = simd::set(static_cast<T>(by.divisor));
    for (auto& sum : sums) {
      sum = simd::pmul(factor, sum);
      if (by.divisor != 1)
        sum = simd::pdiv(sum, divisor);
    }
    return;
  }
  constexpr int64_t columns = Packets * simd::width<T>;
  alignas(64) double totals[columns] = {};
  alignas(64) T block[columns];
  for (int64_t r = 0; r < rows; r += rows_in_block) {
    add_rows(x + r * stride, std::min(rows_in_block, rows - r), stride, load, sums);
    for (int p = 0; p < Packets; ++p)
      simd::store(block + p * simd::width<T>, sums[p]);
    for (int64_t j = 0; j < columns; ++j)
      totals[j] += static_cast<double>(block[j]);
  }
  for (int64_t j = 0; j < columns; ++j)
    block[j] = static_cast<T>(totals[j] * by.factor / by.divisor);
  for (int p = 0; p < Packets; ++p)
    sums[p] = simd::load(static_cast<const T*>(block + p * simd::width<T>));
}

}  // namespace

template <class T>
void sum_columns(const T* x, int64_t rows, int64_t columns, int64_t stride, T* y, const sum_ratio& by) {
  constexpr int together = 4;
  simd::packet<T> sums[together], sum[1];
  const auto whole = [](const T* p) { return simd::load(p); };
  int64_t j = 0;
  for (; j + together * simd::width<T> <= columns; j += together * simd::width<T>) {
    add_and_scale(x + j, rows, stride, whole, by, sums);
    for (int p = 0; p < together; ++p)
      simd::store(y + j + p * simd::width<T>, sums[p]);
  }
  for (; j + simd::width<T> <= columns; j += simd::width<T>) {
    add_and_scale(x + j, rows, stride, whole, by, sum);
    simd::store(y + j, sum[0]);
  }
  if (const int64_t n = columns - j; n > 0) {
    add_and_scale(
        x + j, rows, stride, [n](const T* p) { return simd::load_part(p, n); }, by, sum);
    simd::store_part(y + j, sum[0], n);
  }
}

template void sum_columns(const float*, int64_t, int64_t, int64_t, float*, const sum_ratio&);
template void sum_columns(const double*, int64_t, int64_t, int64_t, double*, const sum_ratio&);

}  // namespace troupe
