// Rows of a sparse gradient that may differ from 0: one bit per row, at the end of the gradient vector.
#pragma once

#include "compute/parameters/parameter_store.hpp"

#include <algorithm>
#include <bit>

namespace troupe {

/// The first row of [row, last) whose bit is `touched`, or `last`.
inline int64_t next_row(const uint64_t* bits, int64_t row, int64_t last, bool touched) {
  for (int64_t first = row; row < last; row = first = row / 64 * 64 + 64) {
    const uint64_t word = bits[row / 64] ^ (touched ? uint64_t{0} : ~uint64_t{0});
    if (const uint64_t rest = word >> (first % 64); rest != 0)
      return std::min(first + std::countr_zero(rest), last);
  }
  return last;
}

inline const uint64_t* touched_bits(const sparse_rows& s, const std::byte* gradient) {
  return reinterpret_cast<const uint64_t*>(gradient + s.bits);
}

/// Calls f(first, last, touched) for the rows that overlap bytes [slice) of the gradient vector, merged into the
/// longest ranges of equal bits. `first` and `last` are bytes of that vector, clipped to the slice.
template <class F>
void for_row_runs(const sparse_rows& s, const uint64_t* bits, std::pair<int64_t, int64_t> slice, F f) {
  const int64_t first = std::max(slice.first, s.first), last = std::min(slice.second, s.first + s.rows * s.row_bytes);
  if (first >= last)
    return;
  const int64_t end = (last - s.first + s.row_bytes - 1) / s.row_bytes;
  for (int64_t row = (first - s.first) / s.row_bytes; row < end;) {
    const bool touched = (bits[row / 64] >> (row % 64) & 1) != 0;
    const int64_t next = next_row(bits, row, end, !touched);
    f(std::max(first, s.first + row * s.row_bytes), std::min(last, s.first + next * s.row_bytes), touched);
    row = next;
  }
}

template <class F>
void for_row_runs(const sparse_rows& s, const std::byte* gradient, std::pair<int64_t, int64_t> slice, F f) {
  for_row_runs(s, touched_bits(s, gradient), slice, f);
}

/// Calls f(first, last) for the lines of 64 bytes that contain touched rows: each once, in order. Such a line may also
/// contain other touched rows, and zeros.
template <class F>
void for_touched_lines(const sparse_rows& s, const uint64_t* bits, std::pair<int64_t, int64_t> slice, F f) {
  constexpr int64_t line = 64;
  int64_t done = 0;
  for_row_runs(s, bits, slice, [&](int64_t first, int64_t last, bool touched) {
    if (!touched)
      return;
    first = std::max(done, first / line * line);
    done = (last + line - 1) / line * line;
    if (first < done)
      f(first, done);
  });
}

template <class F>
void for_touched_lines(const sparse_rows& s, const std::byte* gradient, std::pair<int64_t, int64_t> slice, F f) {
  for_touched_lines(s, touched_bits(s, gradient), slice, f);
}

/// Calls f(first, last), in order, for the parts of bytes [first, last) that belong to no sparse rows.
template <class F>
void for_dense_parts(std::span<const sparse_rows> all, int64_t first, int64_t last, F f) {
  for (const auto& s : all) {
    if (s.last <= first || last <= s.first)
      continue;
    if (first < s.first)
      f(first, s.first);
    first = s.last;
  }
  if (first < last)
    f(first, last);
}

}  // namespace troupe
