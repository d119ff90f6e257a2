// The product of matrices: C = epilogue(op(A)·op(B) + bias), row-major, without allocation.
//
// Every element of C is one chain of fused multiply-adds over k in order, started from the bias: its bits depend on the
// row of A, the column of B and k only, not on blocking, neighbours, addresses or the width of vectors. So the kernel is
// chosen by the processor at hand (AVX2, AVX-512) and the bits are the same; only a build without FMA has others.
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
  const T* mask = nullptr;    ///< [m, n]: where it is not positive, 0 is written.
  bool relu = false;          ///< What is negative becomes 0.
  int64_t lda = 0, ldb = 0, ldc = 0;  ///< From row to row as they are stored; 0: they lie close.
};

/// Bytes of workspace for a product: a function of the shape alone.
template <class T>
int64_t gemm_workspace(const gemm_shape& s);

template <class T>
void gemm(const gemm_shape& s, const gemm_operands<T>& x, std::byte* workspace);

// -- the levels of processors that it is compiled for -------------------------------------

/// So much of k, of the columns of C, and of its rows, where those of A are packed and where not, at a time.
inline constexpr int64_t gemm_depth_block = 512, gemm_column_block = 512, gemm_packed_rows = 48, gemm_row_block = 240;
/// So many rows of A are packed at once: nothing of B has to be kept then for those below.
inline constexpr int64_t gemm_few_rows = 128;
/// An operand of more elements is not expected in the second-level cache, beside all else that is used.
inline constexpr int64_t gemm_far = 128 * 1024;

struct gemm_packing {
  bool a, b;
};
/// Packing costs a copy of the operand, and spares the tiles their walk over distant rows. Of operands stored so far apart; a
/// share of a product packs nothing that the whole does not.
gemm_packing packing_of(const gemm_shape& s, int64_t lda, int64_t ldb) noexcept;
/// How many rows of C are computed at a time; where the packed panels of B lie in the workspace, behind the rows of A, how far
/// they are apart for each step of k and column (0: one after the other in one place, for rows that come but once), and the end.
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
