// The loops of the matrix product, written once and compiled for each CPU level (gemm_v3.cpp, gemm_v4.cpp).
//
// Everything here has internal linkage and nothing from the standard library is called: an inline function compiled for a
// higher level must not become the one that the linker keeps for all.
//
// As in Goto & van de Geijn 2008: a block of op(A) is packed so that it stays in the second-level cache, a panel of op(B) so
// that it stays in the first, and a tile of C is kept in registers while k goes by.
#pragma once

#include "compute/kernels/gemm.hpp"

namespace troupe {
namespace {

constexpr int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

#ifdef __AVX2__

/// Eight rows of eight become columns.
[[maybe_unused]] inline void transpose_8x8(const float* from, int64_t from_stride, float* to, int64_t to_stride) {
  __m256 r[8], s[8];
  for (int i = 0; i < 8; ++i)
    r[i] = _mm256_loadu_ps(from + i * from_stride);
  for (int i = 0; i < 8; i += 2) {
    s[i] = _mm256_unpacklo_ps(r[i], r[i + 1]);
    s[i + 1] = _mm256_unpackhi_ps(r[i], r[i + 1]);
  }
  for (int i = 0; i < 8; i += 4) {
    r[i] = _mm256_shuffle_ps(s[i], s[i + 2], 0x44);
    r[i + 1] = _mm256_shuffle_ps(s[i], s[i + 2], 0xee);
    r[i + 2] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0x44);
    r[i + 3] = _mm256_shuffle_ps(s[i + 1], s[i + 3], 0xee);
  }
  for (int i = 0; i < 4; ++i) {
    _mm256_storeu_ps(to + i * to_stride, _mm256_permute2f128_ps(r[i], r[i + 4], 0x20));
    _mm256_storeu_ps(to + (i + 4) * to_stride, _mm256_permute2f128_ps(r[i], r[i + 4], 0x31));
  }
}

[[maybe_unused]] inline void transpose_4x4(const double* from, int64_t from_stride, double* to, int64_t to_stride) {
  __m256d r[4], s[4];
  for (int i = 0; i < 4; ++i)
    r[i] = _mm256_loadu_pd(from + i * from_stride);
  for (int i = 0; i < 4; i += 2) {
    s[i] = _mm256_unpacklo_pd(r[i], r[i + 1]);
    s[i + 1] = _mm256_unpackhi_pd(r[i], r[i + 1]);
  }
  for (int i = 0; i < 2; ++i) {
    _mm256_storeu_pd(to + i * to_stride, _mm256_permute2f128_pd(s[i], s[i + 2], 0x20));
    _mm256_storeu_pd(to + (i + 2) * to_stride, _mm256_permute2f128_pd(s[i], s[i + 2], 0x31));
  }
}

#endif

/// Where a tile of C begins and ends its chains of additions.
template <class T>
struct ends {
  const T* bias;   ///< Start: from the bias, or from zero,
  bool first;      ///<   or, when not the first block of k, from C.
  bool last;       ///< After the last block: mask and relu.
  const T* mask;
  bool relu;
};

/// How the elements of op(A) lie: its rows or its columns in one piece, or packed: tile after tile, each column by column.
enum class order : uint8_t { rows, columns, packed };

/// C[Rows × columns] over k steps. Rows of op(B) are ldb apart. With `Part` only `columns` of the last vector exist.
/// A row stride that is known (packed rows) needs no register for its multiples.
template <class V, int Rows, int Vectors, order Order, int64_t KnownStride, bool Part>
inline __attribute__((always_inline)) void tile(int64_t k, const typename V::number* a, int64_t stride, const typename V::number* b, int64_t ldb,
                                                typename V::number* c, int64_t ldc, int64_t columns, const ends<typename V::number>& e) {
  using T = typename V::number;
  using vector = typename V::vector;
  constexpr int64_t w = V::width;
  const auto mask = V::mask(columns - (Vectors - 1) * w);
  const auto load = [&](const T* p, int q) __attribute__((always_inline)) { return Part && q == Vectors - 1 ? V::load_part(p + q * w, mask) : V::load(p + q * w); };
  vector sum[Rows][Vectors];
  if (!e.first) {
    for (int i = 0; i < Rows; ++i)
      for (int q = 0; q < Vectors; ++q)
        sum[i][q] = load(c + i * ldc, q);
  } else {
    for (int q = 0; q < Vectors; ++q) {
      const vector start = e.bias ? load(e.bias, q) : V::set(T{0});
      for (int i = 0; i < Rows; ++i)
        sum[i][q] = start;
    }
  }
  const int64_t known = KnownStride ? KnownStride : stride;
  for (int64_t p = 0; p < k; ++p) {
    vector y[Vectors];
    for (int q = 0; q < Vectors; ++q)
      y[q] = load(b, q);
#pragma GCC unroll 16
    for (int i = 0; i < Rows; ++i) {
      const vector x = V::set(Order == order::rows ? a[i * known] : a[i]);
      for (int q = 0; q < Vectors; ++q)
        sum[i][q] = V::fma(x, y[q], sum[i][q]);
    }
    b += ldb;
    a += Order == order::rows ? 1 : known;
  }
  for (int i = 0; i < Rows; ++i)
    for (int q = 0; q < Vectors; ++q) {
      vector v = sum[i][q];
      if (e.last && e.mask)
        v = V::where_positive(load(e.mask + i * ldc, q), v);
      if (e.last && e.relu)
        v = V::relu(v);
      if (Part && q == Vectors - 1)
        V::store_part(c + i * ldc + q * w, v, mask);
      else
        V::store(c + i * ldc + q * w, v);
    }
}

/// The product for one CPU level: V is its vector of float or double.
template <class V>
struct product {
  using T = typename V::number;
  static constexpr int64_t w = V::width, tile_rows = V::tile_rows, wide = 2 * w;
  static constexpr int64_t packed_stride = gemm_packed_stride;

  template <int Vectors, order Order, int64_t KnownStride, bool Part>
  static void rows_of_panel(int64_t m, int64_t k, const T* a, int64_t stride, const T* b, int64_t ldb, T* c, int64_t ldc, int64_t columns, ends<T> e) {
    const int64_t next = Order == order::rows ? (KnownStride ? KnownStride : stride) : 1;
    const auto advance = [&](int64_t rows) {
      a += Order == order::packed ? rows * k : rows * next;
      c += rows * ldc;
      if (e.mask)
        e.mask += rows * ldc;
      m -= rows;
    };
    while (m >= tile_rows) {
      tile<V, tile_rows, Vectors, Order, Order == order::packed ? tile_rows : KnownStride, Part>(k, a, stride, b, ldb, c, ldc, columns, e);
      advance(tile_rows);
    }
    const auto rest = [&]<int Rows>() {
      if (m >= Rows && Rows < tile_rows) {
        tile<V, Rows < tile_rows ? Rows : 1, Vectors, Order, Order == order::packed ? (Rows < tile_rows ? Rows : 1) : KnownStride, Part>(
          k, a, stride, b, ldb, c, ldc, columns, e);
        advance(Rows);
      }
    };
    rest.template operator()<8>();
    rest.template operator()<4>();
    rest.template operator()<2>();
    rest.template operator()<1>();
  }

  template <order Order, int64_t KnownStride>
  static void one_panel(int64_t m, int64_t k, const T* a, int64_t stride, const T* b, int64_t ldb, T* c, int64_t ldc, int64_t columns, const ends<T>& e) {
    const auto run = [&]<int Vectors, bool Part>() { rows_of_panel<Vectors, Order, KnownStride, Part>(m, k, a, stride, b, ldb, c, ldc, columns, e); };
    if (columns == wide)
      run.template operator()<2, false>();
    else if (columns > w)
      run.template operator()<2, true>();
    else if (columns == w)
      run.template operator()<1, false>();
    else
      run.template operator()<1, true>();
  }

  /// k × columns of op(B), rows `wide` apart.
  static void pack_b(bool transposed, int64_t k, int64_t columns, const T* b, int64_t ldb, T* to) {
    if (transposed) {
      int64_t j = 0;
      for (; j + V::square <= columns; j += V::square) {
        int64_t p = 0;
        for (; p + V::square <= k; p += V::square)
          V::transpose(b + j * ldb + p, ldb, to + p * wide + j, wide);
        for (; p < k; ++p)
          for (int64_t r = 0; r < V::square; ++r)
            to[p * wide + j + r] = b[(j + r) * ldb + p];
      }
      for (; j < columns; ++j)
        for (int64_t p = 0; p < k; ++p)
          to[p * wide + j] = b[j * ldb + p];
      return;
    }
    for (int64_t p = 0; p < k; ++p, b += ldb, to += wide)
      if (columns == wide) {
        V::store(to, V::load(b));
        V::store(to + w, V::load(b + w));
      } else {
        for (int64_t j = 0; j < columns; ++j)
          to[j] = b[j];
      }
  }

  /// m × k of op(A) whose rows lie apart by lda: rows `packed_stride` apart.
  static void pack_rows(int64_t m, int64_t k, const T* a, int64_t lda, T* to) {
    for (int64_t i = 0; i < m; ++i, a += lda, to += packed_stride) {
      int64_t p = 0;
      for (; p + w <= k; p += w)
        V::store(to + p, V::load(a + p));
      for (; p < k; ++p)
        to[p] = a[p];
    }
  }

  /// m × k of op(A) whose columns lie apart by lda: tile after tile, each with its columns one after the other.
  static void pack_columns(int64_t m, int64_t k, const T* a, int64_t lda, T* to) {
    const auto part = [&]<int Rows>() {
      for (int64_t p = 0; p < k; ++p, to += Rows)
        for (int i = 0; i < Rows; ++i)
          to[i] = a[p * lda + i];
      a += Rows;
      m -= Rows;
    };
    while (m >= tile_rows)
      part.template operator()<tile_rows>();
    while (m >= 8)
      part.template operator()<8>();
    while (m >= 4)
      part.template operator()<4>();
    while (m >= 2)
      part.template operator()<2>();
    if (m)
      part.template operator()<1>();
  }

  /// Rows [row, row + m) of the patches, columns [first, first + k) of each: rows `packed_stride` apart.
  static void pack_patches(const image_patches& g, const T* images, int64_t row, int64_t m, int64_t first, int64_t k, T* to) {
    int64_t x = row % g.columns, y = row / g.columns % g.rows, image = row / (g.columns * g.rows);
    for (int64_t i = 0; i < m; ++i, to += packed_stride) {
      const T* const from = images + image * g.height * g.width * g.pixel;
      int64_t tap = first / g.channels, channel = first % g.channels;
      for (int64_t p = 0; p < k; ++tap) {
        const int64_t ky = tap / g.x.kernel, kx = tap % g.x.kernel;
        int64_t sy = y * g.y.stride + ky * g.y.dilation - g.y.pad, sx = x * g.x.stride + kx * g.x.dilation - g.x.pad;
        bool inside = sy >= 0 && sx >= 0;
        if (g.y.between != 1 || g.x.between != 1) {
          inside = inside && sy % g.y.between == 0 && sx % g.x.between == 0;
          sy /= g.y.between;
          sx /= g.x.between;
        }
        inside = inside && sy < g.height && sx < g.width;
        const int64_t n = least(g.channels - channel, k - p);
        int64_t c = 0;
        if (inside) {
          const T* source = from + (sy * g.width + sx) * g.pixel + channel;
          for (; c + w <= n; c += w)
            V::store(to + p + c, V::load(source + c));
          for (; c < n; ++c)
            to[p + c] = source[c];
        } else {
          for (; c + w <= n; c += w)
            V::store(to + p + c, V::set(T{0}));
          for (; c < n; ++c)
            to[p + c] = T{0};
        }
        p += n;
        channel = 0;
      }
      if (++x == g.columns) {
        x = 0;
        if (++y == g.rows) {
          y = 0;
          ++image;
        }
      }
    }
  }

  static void run(const gemm_shape& s, const gemm_operands<T>& x, std::byte* workspace) {
    const gemm_packing pack = packing_of(s);
    const gemm_places places = places_of(s, sizeof(T));
    T* const packed_a = reinterpret_cast<T*>(workspace);
    T* const packed_b = reinterpret_cast<T*>(workspace + places.b);
    T* const patches = reinterpret_cast<T*>(workspace + places.patches);
    const int64_t lda = s.transpose_a ? s.m : s.k, ldb = x.ldb ? x.ldb : s.transpose_b ? s.k : s.n, ldc = x.ldc ? x.ldc : s.n;
    for (int64_t p = 0; p == 0 || p < s.k; p += gemm_depth_block) {
      const int64_t depth = least(gemm_depth_block, s.k - p);
      for (int64_t i = 0; i < s.m; i += gemm_row_block) {
        const int64_t rows = least(gemm_row_block, s.m - i);
        const T* a = s.patches ? nullptr : s.transpose_a ? x.a + p * lda + i : x.a + i * lda + p;
        if (s.patches && s.transpose_a) {
          pack_patches(*x.image, x.a, p, depth, i, rows, patches);
          pack_columns(rows, depth, patches, packed_stride, packed_a);
        } else if (s.patches)
          pack_patches(*x.image, x.a, i, rows, p, depth, packed_a);
        else if (s.transpose_a && pack.a)
          pack_columns(rows, depth, a, lda, packed_a);
        else if (pack.a)
          pack_rows(rows, depth, a, lda, packed_a);
        for (int64_t j = 0; j < s.n; j += wide) {
          const int64_t columns = least(wide, s.n - j);
          const T* b = s.transpose_b ? x.b + j * ldb + p : x.b + p * ldb + j;
          int64_t b_stride = ldb;
          if (pack.b) {
            pack_b(s.transpose_b, depth, columns, b, ldb, packed_b);
            b = packed_b;
            b_stride = wide;
          }
          const ends<T> e{x.bias ? x.bias + j : nullptr, p == 0, p + depth >= s.k, x.mask ? x.mask + i * ldc + j : nullptr, x.relu};
          T* c = x.c + i * ldc + j;
          if (s.transpose_a && pack.a)
            one_panel<order::packed, 0>(rows, depth, packed_a, 0, b, b_stride, c, ldc, columns, e);
          else if (s.transpose_a)
            one_panel<order::columns, 0>(rows, depth, a, lda, b, b_stride, c, ldc, columns, e);
          else if (pack.a)
            one_panel<order::rows, packed_stride>(rows, depth, packed_a, 0, b, b_stride, c, ldc, columns, e);
          else
            one_panel<order::rows, 0>(rows, depth, a, lda, b, b_stride, c, ldc, columns, e);
        }
      }
    }
  }
};

}  // namespace
}  // namespace troupe
