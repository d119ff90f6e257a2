#include "compute/kernels/gemm.hpp"

#include "compute/kernels/simd.hpp"

namespace troupe {
namespace {

using simd::packet;

constexpr int64_t tile_rows = 6;      // With two packets a row, twelve accumulators: enough to hide the latency of an FMA.
constexpr int64_t depth_block = 256;  // Panels of B of this depth stay in the first-level cache.
constexpr int64_t row_block = 240;

/// Panels of B this wide; the last one may be half of it.
template <class T>
inline constexpr int64_t panel = 2 * simd::width<T>;

/// Where a tile of C begins and ends its chains of additions.
template <class T>
struct ends {
  const T* bias;   ///< Start: from the bias, or from zero,
  bool first;      ///<   or, when not the first block of k, from C.
  bool last;       ///< After the last block: mask and relu.
  const T* mask;
  bool relu;
};

/// C[rows × columns] over k steps. Element (i, p) of A is a[i·row_stride + p·k_stride]; one of them is 1. Row p of B is
/// b + p·ldb. With `Part` only `columns` of the last packet exist.
template <class T, int Rows, int Packets, bool RowMajorA, bool PartB, bool PartC>
inline void tile(int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc, int64_t columns, const ends<T>& e) {
  constexpr int64_t w = simd::width<T>;
  const int64_t part = columns - (Packets - 1) * w;
  const auto load_c = [&](const T* p, int q) { return PartC && q == Packets - 1 ? simd::load_part(p + q * w, part) : simd::load(p + q * w); };
  packet<T> sum[Rows][Packets];
  if (!e.first) {
    for (int i = 0; i < Rows; ++i)
      for (int q = 0; q < Packets; ++q)
        sum[i][q] = load_c(c + i * ldc, q);
  } else {
    for (int q = 0; q < Packets; ++q) {
      const packet<T> start = e.bias ? load_c(e.bias, q) : simd::set(T{0});
      for (int i = 0; i < Rows; ++i)
        sum[i][q] = start;
    }
  }
  for (int64_t p = 0; p < k; ++p) {
    packet<T> y[Packets];
    for (int q = 0; q < Packets; ++q)
      y[q] = PartB && q == Packets - 1 ? simd::load_part(b + q * w, part) : simd::load(b + q * w);
    for (int i = 0; i < Rows; ++i) {
      const packet<T> x = simd::set(RowMajorA ? a[i * lda + p] : a[i]);
      for (int q = 0; q < Packets; ++q)
        sum[i][q] = simd::pmadd(x, y[q], sum[i][q]);
    }
    b += ldb;
    if constexpr (!RowMajorA)
      a += lda;
  }
  for (int i = 0; i < Rows; ++i)
    for (int q = 0; q < Packets; ++q) {
      packet<T> v = sum[i][q];
      if (e.last && e.mask) {
        using Eigen::internal::pand;
        v = pand(v, Eigen::internal::pcmp_lt(simd::set(T{0}), load_c(e.mask + i * ldc, q)));
      }
      if (e.last && e.relu)
        v = Eigen::internal::pmax(v, simd::set(T{0}));  // A NaN stays: pmax returns its first operand then.
      if (PartC && q == Packets - 1)
        simd::store_part(c + i * ldc + q * w, v, part);
      else
        simd::store(c + i * ldc + q * w, v);
    }
}

/// All rows of one panel.
template <class T, int Packets, bool RowMajorA, bool PartB, bool PartC>
void rows_of_panel(int64_t m, int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb, T* c, int64_t ldc, int64_t columns, ends<T> e) {
  const int64_t next = RowMajorA ? lda : 1;
  const auto advance = [&](int64_t rows) {
    a += rows * next;
    c += rows * ldc;
    if (e.mask)
      e.mask += rows * ldc;
  };
  for (; m >= tile_rows; m -= tile_rows) {
    tile<T, tile_rows, Packets, RowMajorA, PartB, PartC>(k, a, lda, b, ldb, c, ldc, columns, e);
    advance(tile_rows);
  }
  const auto rest = [&]<int Rows>() {
    tile<T, Rows, Packets, RowMajorA, PartB, PartC>(k, a, lda, b, ldb, c, ldc, columns, e);
    advance(Rows);
  };
  if (m >= 4) {
    rest.template operator()<4>();
    m -= 4;
  }
  if (m >= 2) {
    rest.template operator()<2>();
    m -= 2;
  }
  if (m)
    rest.template operator()<1>();
}

template <class T, bool RowMajorA>
void one_panel(int64_t m, int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb, bool padded, T* c, int64_t ldc, int64_t columns,
               const ends<T>& e) {
  constexpr int64_t w = simd::width<T>;
  const auto run = [&]<int Packets, bool PartB, bool PartC>() {
    rows_of_panel<T, Packets, RowMajorA, PartB, PartC>(m, k, a, lda, b, ldb, c, ldc, columns, e);
  };
  if (columns == panel<T>)
    run.template operator()<2, false, false>();
  else if (columns > w)
    padded ? run.template operator()<2, false, true>() : run.template operator()<2, true, true>();
  else if (columns == w)
    run.template operator()<1, false, false>();
  else
    padded ? run.template operator()<1, false, true>() : run.template operator()<1, true, true>();
}

/// k × columns of op(B), rows `panel` apart, filled up with zeros.
template <class T>
void pack_panel(bool transposed, int64_t k, int64_t columns, const T* b, int64_t ldb, T* to) {
  constexpr int64_t wide = panel<T>;
  if (transposed) {
    for (int64_t j = 0; j < wide; ++j)
      for (int64_t p = 0; p < k; ++p)
        to[p * wide + j] = j < columns ? b[j * ldb + p] : T{0};
  } else {
    for (int64_t p = 0; p < k; ++p, b += ldb, to += wide) {
      if (columns == wide) {
        simd::store(to, simd::load(b));
        simd::store(to + simd::width<T>, simd::load(b + simd::width<T>));
      } else {
        for (int64_t j = 0; j < wide; ++j)
          to[j] = j < columns ? b[j] : T{0};
      }
    }
  }
}

/// Packing costs k·n copies and spares m rows the strided walk over B.
bool packs_b(const gemm_shape& s) { return s.transpose_b || (s.m >= 32 && s.k * s.n >= 4096); }

}  // namespace

template <class T>
int64_t gemm_workspace(const gemm_shape& s) {
  return packs_b(s) ? std::min(s.k, depth_block) * panel<T> * static_cast<int64_t>(sizeof(T)) : 0;
}

template <class T>
void gemm(const gemm_shape& s, const gemm_operands<T>& x, std::byte* workspace) {
  constexpr int64_t wide = panel<T>;
  const bool pack = packs_b(s);
  const int64_t lda = s.transpose_a ? s.m : s.k, ldb = s.transpose_b ? s.k : s.n;
  for (int64_t p = 0; p == 0 || p < s.k; p += depth_block) {
    const int64_t depth = std::min(depth_block, s.k - p);
    for (int64_t i = 0; i < s.m; i += row_block) {
      const int64_t rows = std::min(row_block, s.m - i);
      const T* a = s.transpose_a ? x.a + p * lda + i : x.a + i * lda + p;
      for (int64_t j = 0; j < s.n; j += wide) {
        const int64_t columns = std::min(wide, s.n - j);
        const T* b = s.transpose_b ? x.b + j * ldb + p : x.b + p * ldb + j;
        int64_t b_stride = ldb;
        if (pack) {
          pack_panel(s.transpose_b, depth, columns, b, ldb, reinterpret_cast<T*>(workspace));
          b = reinterpret_cast<const T*>(workspace);
          b_stride = wide;
        }
        const ends<T> e{x.bias ? x.bias + j : nullptr, p == 0, p + depth >= s.k, x.mask ? x.mask + i * s.n + j : nullptr, x.relu};
        T* c = x.c + i * s.n + j;
        if (s.transpose_a)
          one_panel<T, false>(rows, depth, a, lda, b, b_stride, pack, c, s.n, columns, e);
        else
          one_panel<T, true>(rows, depth, a, lda, b, b_stride, pack, c, s.n, columns, e);
      }
    }
  }
}

template int64_t gemm_workspace<float>(const gemm_shape&);
template int64_t gemm_workspace<double>(const gemm_shape&);
template void gemm<float>(const gemm_shape&, const gemm_operands<float>&, std::byte*);
template void gemm<double>(const gemm_shape&, const gemm_operands<double>&, std::byte*);

}  // namespace troupe
