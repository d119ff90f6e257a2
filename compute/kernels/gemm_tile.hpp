// A tile of a product: as many rows and columns of C as the registers hold, accumulated over k. Compiled for each CPU
// level.
//
// Everything here has internal linkage and calls nothing from the standard library: an inline function compiled for a
// higher level must not become the copy that the linker keeps for all levels.
#pragma once

#include "compute/kernels/gemm.hpp"
#include "compute/kernels/prefetch.hpp"

#include <utility>

namespace troupe {
namespace {

constexpr int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/// Prefetches that are issued while a tile is computed. Every `chunk` steps of k they fetch two lines of each of
/// `count` runs, which are `stride` elements apart, and then advance by `on` elements.
template <class T>
struct prefetches {
  static constexpr int64_t line = 64 / sizeof(T), chunk = 2 * line;
  const T* at = nullptr;
  int64_t count = 0, stride = 0, on = 0;

  __attribute__((always_inline)) void ask() {
    for (int64_t i = 0; i < count; ++i) {
      __builtin_prefetch(at + i * stride, 0, 2);
      __builtin_prefetch(at + i * stride + line, 0, 2);
    }
    at += on;
  }
};

/// The operands of a tile. A sum runs over k elements of a row and a column, repeated `x.count` times, and all of that
/// repeated `y.count` times.
template <class T>
struct factors {
  int64_t k;
  const T* a;
  int64_t stride;  ///< Between rows of op(A), or between its columns (see `order`).
  const T* b;
  int64_t ldb;  ///< Between rows of op(B).
  struct repetition {
    int64_t count = 1, a = 0, b = 0;  ///< `a`, `b`: how far the operands advance after each repetition.
  } x, y;
  prefetches<T> soon_a{}, soon_b{};
  T* copy = nullptr;  ///< Where a copying tile stores the elements of op(B) that it reads, in rows of two vectors.
};

/// The place of a tile of C, and how its chains of additions begin and end.
template <class T>
struct ends {
  T* c;
  int64_t ldc;
  int64_t columns;  ///< Columns of the tile that exist in C.
  const T* next;    ///< The following tile, to be prefetched.
  const T* bias;    ///< Start of the sums; null: 0.
  bool first;       ///< First block of k; later ones start from C.
  bool last;        ///< Last block of k: applies mask and relu.
  bool relu;
  const T* mask;
};

/// The layout of op(A): its rows or its columns are contiguous.
enum class order : uint8_t { rows, columns };

/// Computes Rows × columns elements of C. With `Part` the last vector of a row is partial. With `Copy` the tile also
/// packs the rows of op(B) for the tiles below, at no cost: a multiply-add needs no store port.
template <class V, int Rows, int Vectors, order Order, bool Part, bool Copy = false>
__attribute__((noinline)) void tile(const factors<typename V::number>& f, const ends<typename V::number>& e) {
  using T = typename V::number;
  using vector = typename V::vector;
  constexpr int64_t w = V::width;
  const auto mask = V::mask(e.columns - (Vectors - 1) * w);
  const auto load = [&](const T* p, int q) __attribute__((always_inline)) {
    return Part && q == Vectors - 1 ? V::load_part(p + q * w, mask) : V::load(p + q * w);
  };
  T* const c = e.c;
  const int64_t ldc = e.ldc;
  vector sum[Rows][Vectors];
  if (e.first) {
    for (int q = 0; q < Vectors; ++q) {
      const vector start = e.bias ? load(e.bias, q) : V::set(T{0});
#pragma GCC unroll 16
      for (int i = 0; i < Rows; ++i)
        sum[i][q] = start;
    }
  } else {
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i)
      for (int q = 0; q < Vectors; ++q)
        sum[i][q] = load(c + i * ldc, q);
  }
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i)
    for (int q = 0; q < Vectors; ++q)
      prefetch_to_write(e.next + i * ldc + q * w);
  const T *a = f.a, *b = f.b;
  [[maybe_unused]] T* copy = f.copy;
  auto soon_a = f.soon_a, soon_b = f.soon_b;
  constexpr int64_t chunk = prefetches<T>::chunk;
  // Rows are addressed as base + index·{1, 2, 4, 8}. Otherwise the compiler keeps each multiple of the stride in a
  // register, runs out of registers for the last one, and moves it through a vector port at each step.
  const int64_t s = f.stride * static_cast<int64_t>(sizeof(T)), ldb = f.ldb;
  int64_t s3 = 3 * s, s5 = 5 * s, s7 = 7 * s, s9 = 9 * s, s11 = 11 * s;
  if (Order == order::rows)
    asm("" : "+r"(s3), "+r"(s5), "+r"(s7), "+r"(s9), "+r"(s11));
  const auto row = [&](int i) __attribute__((always_inline)) {
    const int64_t odd[] = {s, s3, s5, s7, s9, s11};
    int shift = 0;
    while (i > 1 && i % 2 == 0)
      i /= 2, ++shift;
    return i == 0 ? 0 : odd[i / 2] << shift;
  };
  for (int64_t turns_y = f.y.count; turns_y > 0; --turns_y, a += f.y.a, b += f.y.b)
    for (int64_t turns_x = f.x.count; turns_x > 0; --turns_x, a += f.x.a, b += f.x.b)
      for (int64_t left = f.k; left > 0; left -= chunk) {
        soon_a.ask();
        soon_b.ask();
#pragma GCC unroll 4
        for (int64_t p = least(left, chunk); p > 0; --p) {
          vector y[Vectors];
          for (int q = 0; q < Vectors; ++q)
            y[q] = load(b, q);
          if constexpr (Copy) {
            for (int q = 0; q < Vectors; ++q)
              V::store(copy + q * w, y[q]);
            copy += 2 * w;
          }
#pragma GCC unroll 16
          for (int i = 0; i < Rows; ++i) {
            if (Order == order::columns && i < V::rows_from_memory) {
              for (int q = 0; q < Vectors; ++q)
                sum[i][q] = V::fma(a + i, y[q], sum[i][q]);
              continue;
            }
            const vector x = V::set(
                Order == order::rows ? *reinterpret_cast<const T*>(reinterpret_cast<const char*>(a) + row(i)) : a[i]);
            for (int q = 0; q < Vectors; ++q)
              sum[i][q] = V::fma(x, y[q], sum[i][q]);
          }
          b += ldb;
          a += Order == order::rows ? 1 : f.stride;
        }
      }
  if (e.last && e.mask) {
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i)
      for (int q = 0; q < Vectors; ++q)
        sum[i][q] = V::where_positive(load(e.mask + i * ldc, q), sum[i][q]);
  }
  if (e.last && e.relu) {
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i)
      for (int q = 0; q < Vectors; ++q)
        sum[i][q] = V::relu(sum[i][q]);
  }
#pragma GCC unroll 16
  for (int i = 0; i < Rows; ++i)
    for (int q = 0; q < Vectors; ++q) {
      if (Part && q == Vectors - 1)
        V::store_part(c + i * ldc + q * w, sum[i][q], mask);
      else
        V::store(c + i * ldc + q * w, sum[i][q]);
    }
}

/// The tiles of 1 to V::tile_rows rows: for two whole vectors, for two with the last one partial, and for one.
template <class V, order Order>
class tiles {
 public:
  using function = void (*)(const factors<typename V::number>&, const ends<typename V::number>&);
  static function of(int64_t rows, int64_t columns) {
    return (columns == 2 * V::width ? whole : columns > V::width ? wide : narrow).at[rows - 1];
  }
  /// The tile of V::tile_rows rows that also copies op(B).
  static function copying(int64_t columns) {
    constexpr int rows = V::tile_rows;
    return columns == 2 * V::width ? tile<V, rows, 2, Order, false, true>
           : columns > V::width    ? tile<V, rows, 2, Order, true, true>
                                   : tile<V, rows, 1, Order, true, true>;
  }

 private:
  struct table {
    function at[V::tile_rows];
  };
  template <int Vectors, bool Part, int... I>
  static constexpr table make(std::integer_sequence<int, I...>) {
    return {{tile<V, I + 1, Vectors, Order, Part>...}};
  }
  using rows_less_one = std::make_integer_sequence<int, V::tile_rows>;
  static constexpr table whole = make<2, false>(rows_less_one{});
  static constexpr table wide = make<2, true>(rows_less_one{});
  static constexpr table narrow = make<1, true>(rows_less_one{});
};

/// The number of remaining rows that the next tile takes: as many as possible, unless too few would be left for the one
/// after it. A tile of few rows is bound by the latency of its own sums.
template <class V>
constexpr int64_t next_rows(int64_t left) {
  constexpr int64_t most = V::tile_rows;
  return left <= most ? left : left < most + (most + 1) / 2 ? (left + 1) / 2 : most;
}

/// Transposes up to `w` rows of k elements, `stride` apart, into k columns, `to_stride` apart. Each column is written
/// as a whole vector.
template <class V>
void transpose_rows(int64_t rows, int64_t k, const typename V::number* from, int64_t stride, typename V::number* to,
                    int64_t to_stride) {
  using T = typename V::number;
  constexpr int64_t w = V::width;
  const T* row[w];
  for (int64_t i = 0; i < w; ++i)
    row[i] = from + (i < rows ? i * stride : 0);
  int64_t p = 0;
  for (; p + V::columns_at_once <= k; p += V::columns_at_once)
    V::columns_of(row, p, to + p * to_stride, to_stride);
  if (p < k && k >= V::columns_at_once)
    V::columns_of(row, k - V::columns_at_once, to + (k - V::columns_at_once) * to_stride, to_stride);  // Writes some
                                                                                                       // columns a
                                                                                                       // second time.
  else
    for (; p < k; ++p)
      for (int64_t i = 0; i < rows; ++i)
        to[p * to_stride + i] = row[i][p];
}

/// Packs k × columns elements of op(B) into rows that are `wide` elements apart.
template <class V>
void pack_panel(bool transposed, int64_t k, int64_t columns, const typename V::number* b, int64_t ldb,
                typename V::number* to) {
  constexpr int64_t w = V::width, wide = 2 * w;
  if (transposed) {
    for (int64_t j = 0; j < columns; j += w)
      transpose_rows<V>(least(w, columns - j), k, b + j * ldb, ldb, to + j, wide);
    return;
  }
  const auto last = V::mask(columns > w ? columns - w : columns);
  for (int64_t p = 0; p < k; ++p, b += ldb, to += wide)
    if (columns == wide) {
      V::store(to, V::load(b));
      V::store(to + w, V::load(b + w));
    } else if (columns > w) {
      V::store(to, V::load(b));
      V::store(to + w, V::load_part(b + w, last));
    } else {
      V::store(to, V::load_part(b, last));
    }
}

}  // namespace
}  // namespace troupe
