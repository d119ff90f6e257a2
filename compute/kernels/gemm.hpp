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
  bool patches = false;                           ///< A is not stored: it is `gemm_operands::image`.
};

/// A matrix of patches of images [.., height, width, channels], never laid out as a whole (Chellapilla et al. 2006 do): row
/// (image, y, x) holds, for each (ky, kx) of the kernel in turn, the channels at (y·stride + ky·dilation - pad, ...) / between,
/// zeros where that is outside, or not a whole number.
struct image_patches {
  int64_t height = 0, width = 0;         ///< Of an image, whose pixels lie `pixel` elements apart.
  int64_t channels = 0, pixel = 0;
  int64_t rows = 0, columns = 0;         ///< Positions of an image.
  struct axis {
    int64_t kernel = 1, stride = 1, dilation = 1, pad = 0, between = 1;
  } y, x;
};

template <class T>
struct gemm_operands {
  const T* a;
  const T* b;
  T* c;
  const T* bias = nullptr;    ///< [n], added to every row.
  const T* mask = nullptr;    ///< [m, n]: where it is not positive, 0 is written.
  bool relu = false;          ///< What is negative becomes 0.
  const image_patches* image = nullptr;  ///< What A is made of, where it is patches.
  int64_t ldb = 0, ldc = 0;   ///< From row to row as B and C are stored; 0: they lie close.
};

/// Bytes of workspace for a product: a function of the shape alone.
template <class T>
int64_t gemm_workspace(const gemm_shape& s);

template <class T>
void gemm(const gemm_shape& s, const gemm_operands<T>& x, std::byte* workspace);

// -- the levels of processors that it is compiled for -------------------------------------

/// With `depth` k at a time and `rows` rows of A at a time, the packed operands stay in the caches.
inline constexpr int64_t gemm_depth_block = 256, gemm_row_block = 240;
/// Packed rows do not begin at equal page offsets.
inline constexpr int64_t gemm_packed_stride = gemm_depth_block + 16;
/// The widest panel of B, in bytes: two vectors of AVX-512.
inline constexpr int64_t gemm_panel_bytes = 128;

struct gemm_packing {
  bool a, b;
};
/// Packing costs a copy of the operand, and spares the tiles their walk over distant rows.
gemm_packing packing_of(const gemm_shape& s) noexcept;
/// Where the packed operands lie in the workspace, and how large it is: the block of A, the panel of B, and patches on their
/// way to be transposed.
struct gemm_places {
  int64_t b, patches, end;
};
gemm_places places_of(const gemm_shape& s, int64_t size) noexcept;

namespace gemm_base {
void run(const gemm_shape& s, const gemm_operands<float>& x, std::byte* workspace);
void run(const gemm_shape& s, const gemm_operands<double>& x, std::byte* workspace);
}  // namespace gemm_base
namespace gemm_avx512 {
void run(const gemm_shape& s, const gemm_operands<float>& x, std::byte* workspace);
void run(const gemm_shape& s, const gemm_operands<double>& x, std::byte* workspace);
}  // namespace gemm_avx512

}  // namespace troupe
