// The loops of the matrix product, written once and compiled for each CPU level (gemm_base.cpp, gemm_avx512.cpp).
//
// As in Goto & van de Geijn 2008: a block of op(B) is packed to stay in the second-level cache, and the rows of op(A)
// for a few tiles to stay in or near the first, while a tile of C is in registers. Data that will be packed next are
// prefetched during the arithmetic, because copying them from the third-level cache takes several times as long.
#pragma once

#include "compute/kernels/gemm_tile.hpp"

namespace troupe {
namespace {

/// The product for one CPU level: V is its vector of float or double.
template <class V>
class product {
  using T = typename V::number;
  static constexpr int64_t w = V::width, wide = 2 * w;

 public:
  static void run(const gemm_shape& s, const gemm_operands<T>& x, std::byte* workspace) {
    product(s, x, workspace).run();
  }

 private:
  product(const gemm_shape& shape, const gemm_operands<T>& operands, std::byte* workspace)
    : s(shape), x(operands), lda(x.lda           ? x.lda
                                 : s.transpose_a ? s.m
                                                 : s.k),
      ldb(x.ldb           ? x.ldb
          : s.transpose_b ? s.k
                          : s.n),
      ldc(x.ldc ? x.ldc : s.n), pack(packing_of(s, lda, ldb)), places(places_of(s, pack, sizeof(T))),
      packed_a(reinterpret_cast<T*>(workspace)), packed_b(reinterpret_cast<T*>(workspace + places.b)) {}

  /// A block: columns [j, end) of C, and `depth` steps of k from p on. `next_depth` is the depth of the following
  /// block.
  struct block {
    int64_t j, end, p, depth, next_depth;
  };

  void run() {
    if (s.m == 1 && !s.transpose_b && (!s.transpose_a || lda == 1))
      return row();
    const int64_t depths = (s.k + gemm_depth_block - 1) / gemm_depth_block,
                  depth = depths > 1 ? ((s.k + depths - 1) / depths + 3) / 4 * 4 : gemm_depth_block;
    for (int64_t j = 0; j < s.n; j += gemm_column_block)
      for (int64_t p = 0; p == 0 || p < s.k; p += depth) {
        const int64_t now = least(depth, s.k - p);
        const block at{j, least(s.n, j + gemm_column_block), p, now, least(depth, s.k - p - now)};
        for (int64_t i = 0; i < s.m; i += places.rows)
          rows_of_block(at, i, least(places.rows, s.m - i));
      }
  }

  /// Computes a single row. B is read once, in its own order, with enough sums in progress to hide the latency of
  /// addition.
  void row() {
    int64_t j = 0;
    row_by<V::row_vectors>(j);
    row_by<4>(j);
    row_by<2>(j);
    if (j < s.n)
      row_tile(tiles<V, order::rows>::of(1, s.n - j), j, s.n - j);
  }

  template <int Vectors>
  void row_by(int64_t& j) {
    for (; s.n - j >= Vectors * w; j += Vectors * w)
      row_tile(tile<V, 1, Vectors, order::rows, false>, j, Vectors * w);
  }

  void row_tile(typename tiles<V, order::rows>::function of, int64_t j, int64_t columns) {
    T* const c = x.c + j;
    of({s.k, x.a, lda, x.b + j, ldb, {}, {}},
       {c, ldc, columns, c, x.bias ? x.bias + j : nullptr, true, true, x.relu, x.mask ? x.mask + j : nullptr});
  }

  const T* a_at(int64_t i, int64_t p) const { return s.transpose_a ? x.a + p * lda + i : x.a + i * lda + p; }
  const T* b_at(int64_t p, int64_t j) const { return s.transpose_b ? x.b + j * ldb + p : x.b + p * ldb + j; }

  void rows_of_block(const block& at, int64_t i, int64_t rows) {
    const T* a = a_at(i, at.p);
    if (pack.a) {
      pack_a(rows, at.depth, a);
      a = packed_a;
    }
    for (int64_t j = at.j; j < at.end; j += wide) {
      const T* const b = b_at(at.p, j);
      T* const panel = packed_b + places.apart * (j - at.j) * at.depth;
      const bool copies = pack.b && i == 0 && !s.transpose_b && next_rows<V>(rows) == V::tile_rows;
      if (pack.b && i == 0 && !copies)
        pack_panel<V>(s.transpose_b, at.depth, least(wide, s.n - j), b, ldb, panel);
      tiles_of_panel(at, i, rows, j, a, pack.b ? panel : b, copies ? panel : nullptr);
    }
  }

  /// Computes the tiles of one panel of B. If `panel` is given, the first tile reads B in place and copies it there.
  void tiles_of_panel(const block& at, int64_t i, int64_t rows, int64_t j, const T* a, const T* b, T* panel) {
    const int64_t columns = least(wide, s.n - j), tiles_a_panel = (rows + V::tile_rows - 1) / V::tile_rows;
    ends<T> e{x.c + i * ldc + j,
              ldc,
              columns,
              nullptr,
              x.bias ? x.bias + j : nullptr,
              at.p == 0,
              at.p + at.depth >= s.k,
              x.relu,
              x.mask ? x.mask + i * ldc + j : nullptr};
    const T* const beside = e.c + (j + wide < at.end ? wide : 0);
    factors<T> f{at.depth, a, 0, b, pack.b ? wide : ldb, {}, {}};
    for (int64_t t = 0; rows > 0; ++t) {
      const int64_t n = next_rows<V>(rows);
      f.a = a;
      f.stride = pack.a ? n : lda;
      f.soon_a = pack.a      ? rows_soon(at, i, (j - at.j) / wide * tiles_a_panel + t,
                                         (at.end - at.j + wide - 1) / wide * tiles_a_panel)
                 : j == at.j ? tile_soon(a, n, rows - n)
                             : prefetches<T>{};
      f.soon_b = panel_soon(at, i, j, t, tiles_a_panel);
      rows -= n;
      e.next = rows > 0 ? e.c + n * ldc : beside;
      const bool by_columns = pack.a || s.transpose_a;
      if (panel) {
        f.b = b_at(at.p, j), f.ldb = ldb, f.copy = panel;
        (by_columns ? tiles<V, order::columns>::copying(columns) : tiles<V, order::rows>::copying(columns))(f, e);
        f.b = panel, f.ldb = wide, panel = nullptr;
      } else {
        (by_columns ? tiles<V, order::columns>::of(n, columns) : tiles<V, order::rows>::of(n, columns))(f, e);
      }
      a += pack.a ? n * at.depth : s.transpose_a ? n : n * lda;
      e.c += n * ldc;
      if (e.mask)
        e.mask += n * ldc;
    }
  }

  /// The prefetches that tile t of `tiles` issues for the rows of A that are packed next.
  prefetches<T> rows_soon(const block& at, int64_t i, int64_t t, int64_t tiles) const {
    const int64_t first = i + places.rows, below = least(places.rows, s.m - first);
    if (below <= 0 || s.m * s.k <= gemm_far)
      return {};
    if (s.transpose_a) {  // A is stored in runs of `below` elements; a tile prefetches one half of each of its runs.
      const int64_t count = (2 * chunk + tiles - 1) / tiles, p = t / 2 * chunks(at.depth) * count;
      return p < at.depth ? prefetches<T>{a_at(first + t % 2 * chunk, at.p + p), count, lda, count * lda}
                          : prefetches<T>{};
    }
    const int64_t count = (below + tiles - 1) / tiles;
    return t * count < below ? prefetches<T>{a_at(first + t * count, at.p), count, lda, chunk} : prefetches<T>{};
  }

  /// The prefetches that a tile of `rows` rows at `a` issues for the next tile, while A is read for the first time;
  /// `left` rows remain after the tile.
  prefetches<T> tile_soon(const T* a, int64_t rows, int64_t left) const {
    if (s.transpose_a || left == 0 || s.m * s.k <= gemm_far / 2)
      return {};
    return {a + rows * lda, next_rows<V>(left), lda, chunk};
  }

  /// The prefetches that tile t of `tiles` issues for the panel of B after that at column j, while B is read for the
  /// first time.
  prefetches<T> panel_soon(const block& at, int64_t i, int64_t j, int64_t t, int64_t tiles) const {
    const bool beside = j + wide < at.end;
    if (i > 0 || s.n * s.k <= gemm_far || (!beside && at.next_depth == 0))
      return {};
    const T* const next = beside ? b_at(at.p, j + wide) : b_at(at.p + at.depth, at.j);
    const int64_t count = (wide + tiles - 1) / tiles;
    return s.transpose_b ? prefetches<T>{next + t * count * ldb, count, ldb, chunk}
                         : prefetches<T>{next + t * chunks(at.depth) * count * ldb, count, ldb, count * ldb};
  }

  static constexpr int64_t chunk = prefetches<T>::chunk;
  static int64_t chunks(int64_t depth) { return (depth + chunk - 1) / chunk; }

  /// Packs m × k elements of op(A): tile after tile, each column by column.
  void pack_a(int64_t m, int64_t k, const T* a) const {
    if (s.transpose_a)
      return pack_columns(m, k, a);
    T* to = packed_a;
    for (int64_t rows = 0; m > 0; m -= rows, a += rows * lda, to += rows * k) {
      rows = next_rows<V>(m);
      // Whole vectors are written, also beyond the end of a column. The last rows come first, so that the first rows of
      // the next column overwrite the excess.
      for (int64_t i = (rows - 1) / w * w; i >= 0; i -= w)
        transpose_rows<V>(least(w, rows - i), k, a + i * lda, lda, to + i, rows);
    }
  }

  /// Packs a transposed A, a few columns of all tiles at a time: each column is contiguous, and far from the next one.
  void pack_columns(int64_t m, int64_t k, const T* a) const {
    constexpr int64_t some = 64;
    for (int64_t p = 0; p < k; p += some)
      for (int64_t i = 0, rows = 0; i < m; i += rows) {
        rows = next_rows<V>(m - i);
        const int64_t end = least(k, p + some);
        // The last rows come first, so that later stores overwrite the excess, as in `pack_a`. A vector that ends
        // within the tile is stored whole: storing a part of a vector takes twenty cycles on some processors without
        // AVX-512.
        for (int64_t q = (rows - 1) / w * w; q >= 0; q -= w) {
          const auto part = V::mask(rows - q);
          const T* from = a + p * lda + i + q;
          T* to = packed_a + i * k + p * rows + q;
          int64_t c = p;
          const int64_t whole = i + q + w <= m && rows * k >= q + w ? least(end, (rows * k - q - w) / rows + 1) : p;
          for (; c < whole; ++c, from += lda, to += rows)
            V::store(to, V::load(from));
          for (; c < end; ++c, from += lda, to += rows)
            V::store_part(to, V::load_part(from, part), part);
        }
      }
  }

  const gemm_shape& s;
  const gemm_operands<T>& x;
  const int64_t lda, ldb, ldc;
  const gemm_packing pack;
  const gemm_places places;
  T *const packed_a, *const packed_b;
};

}  // namespace
}  // namespace troupe
