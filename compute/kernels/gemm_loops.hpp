// The loops of the matrix product, written once and compiled for each CPU level (gemm_base.cpp, gemm_avx512.cpp).
//
// As in Goto & van de Geijn 2008: a block of op(B) is packed so that it stays in the second-level cache and a few tiles' rows
// of op(A) so that they stay in the first, or near it, while a tile of C is in registers. What is packed next is asked for
// while there is arithmetic to do: a copy out of the third-level cache takes several times as long.
#pragma once

#include "compute/kernels/gemm_tile.hpp"

namespace troupe {
namespace {

/// The product for one CPU level: V is its vector of float or double.
template <class V>
class product {
  using T = typename V::number;
  static constexpr int64_t w = V::width, wide = 2 * w, line = 64 / sizeof(T);

 public:
  static void run(const gemm_shape& s, const gemm_operands<T>& x, std::byte* workspace) { product(s, x, workspace).run(); }

 private:
  product(const gemm_shape& shape, const gemm_operands<T>& operands, std::byte* workspace)
    : s(shape), x(operands), lda(x.lda ? x.lda : s.transpose_a ? s.m : s.k), ldb(x.ldb ? x.ldb : s.transpose_b ? s.k : s.n), ldc(x.ldc ? x.ldc : s.n),
      pack(packing_of(s, lda, ldb)), places(places_of(s, pack, sizeof(T))), packed_a(reinterpret_cast<T*>(workspace)),
      packed_b(reinterpret_cast<T*>(workspace + places.b)) {}

  /// A block of columns of C, and of k; the depth of the one that comes next.
  struct block {
    int64_t j, end, p, depth, next_depth;
  };

  void run() {
    const int64_t depths = (s.k + gemm_depth_block - 1) / gemm_depth_block, depth = depths > 1 ? ((s.k + depths - 1) / depths + 3) / 4 * 4 : gemm_depth_block;
    for (int64_t j = 0; j < s.n; j += gemm_column_block)
      for (int64_t p = 0; p == 0 || p < s.k; p += depth) {
        const int64_t now = least(depth, s.k - p);
        const block at{j, least(s.n, j + gemm_column_block), p, now, least(depth, s.k - p - now)};
        for (int64_t i = 0; i < s.m; i += places.rows)
          rows_of_block(at, i, least(places.rows, s.m - i));
      }
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
      const int64_t columns = least(wide, s.n - j);
      ask_ahead(at, i, rows, j, columns);
      const T* b = b_at(at.p, j);
      if (pack.b) {
        T* const panel = packed_b + places.apart * (j - at.j) * at.depth;
        if (i == 0)
          pack_panel<V>(s.transpose_b, at.depth, columns, b, ldb, panel);
        b = panel;
      }
      tiles_of_panel(at, i, rows, j, columns, a, b);
    }
  }

  void tiles_of_panel(const block& at, int64_t i, int64_t rows, int64_t j, int64_t columns, const T* a, const T* b) {
    ends<T> e{x.c + i * ldc + j, ldc, columns, nullptr, x.bias ? x.bias + j : nullptr, at.p == 0, at.p + at.depth >= s.k, x.relu, x.mask ? x.mask + i * ldc + j : nullptr};
    const T* const beside = e.c + (j + wide < at.end ? wide : 0);
    while (rows > 0) {
      const int64_t n = next_rows<V>(rows);
      const factors<T> f{at.depth, a, pack.a ? n : lda, b, pack.b ? wide : ldb, {}, {}};
      rows -= n;
      e.next = rows > 0 ? e.c + n * ldc : beside;
      (pack.a || s.transpose_a ? tiles<V, order::columns>::of(n, columns) : tiles<V, order::rows>::of(n, columns))(f, e);
      a += pack.a ? n * at.depth : s.transpose_a ? n : n * lda;
      e.c += n * ldc;
      if (e.mask)
        e.mask += n * ldc;
    }
  }

  /// A share of what is packed next, while panel j of rows i is computed: of the rows that come after these, and of the same
  /// panel of the next block of k.
  void ask_ahead(const block& at, int64_t i, int64_t rows, int64_t j, int64_t columns) const {
    const int64_t below = least(places.rows, s.m - i - rows), blocks = (s.m - 1) / places.rows;
    struct range {
      int64_t first, end;
    };
    const auto share = [](int64_t lines, int64_t turn, int64_t turns) { return range{lines * turn / turns, lines * (turn + 1) / turns}; };
    if (pack.a && below > 0) {
      const int64_t runs = s.transpose_a ? at.depth : below, length = s.transpose_a ? below : at.depth;
      const auto [first, end] = share(runs * lines_of(length), (j - at.j) / wide, (at.end - at.j + wide - 1) / wide);
      touch(a_at(i + rows, at.p), lda, length, first, end);
    }
    if (pack.b && i > 0 && at.next_depth > 0) {
      const int64_t runs = s.transpose_b ? columns : at.next_depth, length = s.transpose_b ? at.next_depth : columns;
      const auto [first, end] = share(runs * lines_of(length), i / places.rows - 1, blocks);
      touch(b_at(at.p + at.depth, j), ldb, length, first, end);
    }
  }

  static constexpr int64_t lines_of(int64_t length) { return (length + line - 1) / line; }

  /// Asks for lines [first, end) of runs of `length` elements that are `stride` apart.
  static void touch(const T* from, int64_t stride, int64_t length, int64_t first, int64_t end) {
    const int64_t each = lines_of(length);
    from += first / each * stride;
    for (int64_t at = first % each; first < end; ++first) {
      __builtin_prefetch(from + at * line, 0, 2);
      if (++at == each) {
        at = 0;
        from += stride;
      }
    }
  }

  /// m × k of op(A): tile after tile, each with its columns one after the other.
  void pack_a(int64_t m, int64_t k, const T* a) const {
    T* to = packed_a;
    while (m > 0) {
      const int64_t rows = next_rows<V>(m);
      if (s.transpose_a) {
        pack_columns(rows, k, a, to);
      } else {
        // What is written beyond a column is overwritten by the next, if the last rows come first.
        for (int64_t i = (rows - 1) / w * w; i >= 0; i -= w)
          turn<V>(least(w, rows - i), k, a + i * lda, lda, to + i, rows);
      }
      a += s.transpose_a ? rows : rows * lda;
      to += rows * k;
      m -= rows;
    }
  }

  void pack_columns(int64_t rows, int64_t k, const T* a, T* to) const {
    for (int64_t i = 0; i < rows; i += w) {
      const auto part = V::mask(rows - i);
      for (int64_t p = 0; p < k; ++p)
        V::store_part(to + p * rows + i, V::load_part(a + p * lda + i, part), part);
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
