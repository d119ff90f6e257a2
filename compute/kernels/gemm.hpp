// Matrix multiplication: C = epilogue(op(A)·op(B) + bias), row-major, without allocation.
//
// Every element of C is one chain of fused multiply-adds over k in order, started from the bias: its bits depend on the
// row of A, the column of B and k only, not on blocking, neighbours, addresses or the width of vectors. The kernel can
// therefore be chosen by the processor (AVX2, AVX-512) without changing the bits; only a build without FMA gives other
// bits.
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
  const T* bias = nullptr;            ///< [n], added to every row.
  const T* mask = nullptr;            ///< [m, n]: the result is 0 where the mask is not positive.
  bool relu = false;                  ///< Negative results become 0.
  int64_t lda = 0, ldb = 0, ldc = 0;  ///< Row strides as stored; 0: contiguous.
};

/// Bytes of workspace for a product, or for any share of its rows or columns. They depend on the shape only.
template <class T>
int64_t gemm_workspace(const gemm_shape& s);

template <class T>
void gemm(const gemm_shape& s, const gemm_operands<T>& x, std::byte* workspace);

// -- CPU levels that it is compiled for ----------------------------------------------------

/// Block sizes of k, of the columns of C, and of the rows of C if rows of A are packed. Each block of k costs every
/// tile a sweep over C and the latency of its last additions: a fortieth of a product where k is halved to 392.
inline constexpr int64_t gemm_depth_block = 1024, gemm_column_block = 512, gemm_packed_rows = 48;
/// Up to this many rows of A are packed at once, so that no part of B has to be kept for the rows below.
inline constexpr int64_t gemm_few_rows = 128;
/// The most and the fewest unpacked rows of A that form a block, and the elements that a block should have. A block is
/// read again for each panel of B, from the second-level cache. The fewest are at least `gemm_few_rows`, so that a
/// share of a product keeps no more of B than the whole.
inline constexpr int64_t gemm_row_block = 240, gemm_row_block_min = 132, gemm_row_elements = 96 * 1024;
static_assert(gemm_row_block_min >= gemm_few_rows);
/// An operand with more elements than this is assumed not to fit into the second-level cache beside everything else in
/// use.
inline constexpr int64_t gemm_far = 128 * 1024;

struct gemm_packing {
  bool a, b;
};
/// Which operands to pack. Packing costs a copy of the operand and saves the tiles from traversing distant rows. `lda`
/// and `ldb` are the row strides as stored. A share of a product packs nothing that the whole would not.
gemm_packing packing_of(const gemm_shape& s, int64_t lda, int64_t ldb) noexcept;
/// The layout of the workspace. `rows`: rows of C that are computed at a time. `b`: offset of the packed panels of B,
/// behind the rows of A. `apart`: 1 if the panels follow each other; 0 if all use one place, because no rows of C
/// follow. `end`: the size. Offsets are in bytes.
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
