// The product of matrices: C = epilogue(op(A)·op(B) + bias), row-major, without allocation.
//
// Every element of C is one chain of fused multiply-adds over k in order, started from the bias: its bits depend on the
// row of A, the column of B and k only, not on blocking, neighbours or addresses.
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
};

/// Bytes of workspace for a product: a function of the shape alone.
template <class T>
int64_t gemm_workspace(const gemm_shape& s);

template <class T>
void gemm(const gemm_shape& s, const gemm_operands<T>& x, std::byte* workspace);

}  // namespace troupe
