// Matrix multiplication: C = epilogue(op(A)·op(B) + bias), row-major, without allocation.
//
// Every element of C is one chain of fused multiply-adds over k in order, started from the bias: its bits depend on the
// row of A, the column of B and k only, not on blocking, neighbours, addresses or the width of vectors. The kernel can
// therefore be chosen by the processor (AVX2, AVX-512) without changing the bits; only a build without FMA has others.
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe {

struct gemm_shape {
  int64_t m = 0, n = 0, k = 0;
  bool transpose_a = false, transpose_b = false;  ///< A is stored [k, m], B is stored [n, k].
};

template <class T>
struct gemm_operands {
  const T* a;
  const T* b;
  T* c;
  const T* bias = nullptr;    ///< [n], added to every row.
  const T* mask = nullptr;    ///< [m, n]: 0 is written where it is not positive.
  bool relu = false;          ///< Negative results become 0.
  int64_t lda = 0, ldb = 0, ldc = 0;  ///< Row strides as stored; 0: contiguous.
};

/// Bytes of workspace for a product, or for any share of its rows or columns: a function of the shape alone.
template <class T>
int64_t gemm_workspace(const gemm_shape& s);

template <class T>
void gemm(const gemm_shape& s, const gemm_operands<T>& x, std::byte* workspace);

// -- CPU levels that it is compiled for ----------------------------------------------------

/// Block sizes: of k, of the columns of C, and of its rows, where those of A are packed. A block of k costs each tile a pass over C and
/// the latency of its last additions, a fortieth of a product where k is halved to 392.
inline constexpr int64_t gemm_depth_block = 1024, gemm_column_block = 512, gemm_packed_rows = 48;
/// Up to so many rows of A are packed at once: no part of B then has to be kept for the rows below.
inline constexpr int64_t gemm_few_rows = 128;
/// Rows of A that are not packed are computed so many at a time, with about so many elements together: they are read again for each panel
/// of B, from the second-level cache. At least as many as are packed at once, so that a share of a product keeps no more of B than the whole.
inline constexpr int64_t gemm_row_block = 240, gemm_row_block_min = 132, gemm_row_elements = 96 * 1024;
static_assert(gemm_row_block_min >= gemm_few_rows);
/// An operand of more elements is assumed not to fit into the second-level cache, with everything else in use.
inline constexpr int64_t gemm_far = 128 * 1024;

struct gemm_packing {
  bool a, b;
};
/// Packing costs a copy of the operand and saves the tiles from traversing distant rows. lda and ldb are the row
/// strides as stored; a share of a product packs nothing that the whole would not.
gemm_packing packing_of(const gemm_shape& s, int64_t lda, int64_t ldb) noexcept;
/// The number of rows of C computed at a time; the places in the workspace of the packed panels of B, behind the rows
/// of A, with their distances for each step of k and each column (0: all in one place, for rows that occur once), and
/// the end.
struct gemm_places {
  int64_t rows, b, apart, end;
};
gemm_places places_of(const gemm_shape& s, const gemm_packing& pack, int64_t size) noexcept;

namespace gemm_base {
void run(const gemm_shape& s, const gemm_operands<float>& x, std::byte* workspace);
void run(const gemm_shape& s, const gemm_operands<double>& x, std::byte* workspace);
}  // namespace gemm_base
namespace gemm_avx512 {
void run(const gemm_shape& s, const gemm_operands<float>& x, std::byte* workspace);
void run(const gemm_shape& s, const gemm_operands<double>& x, std::byte* workspace);
}  // namespace gemm_avx512

}  // namespace troupe
