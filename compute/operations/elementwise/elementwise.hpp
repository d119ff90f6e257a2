// Shared by element-wise operations: kernels over the walk of their operands, and the checks of their dtypes.
#pragma once

#include "compute/operations/walk.hpp"

#include <type_traits>

namespace troupe {

/// Applies f to integers as unsigned numbers, so that they wrap around, and to floating numbers as they are.
template <class T, class F>
constexpr T modular(T a, T b, F f) {
  if constexpr (std::is_integral_v<T>) {
    using word = std::make_unsigned_t<T>;
    return static_cast<T>(f(static_cast<word>(a), static_cast<word>(b)));
  } else {
    return f(a, b);
  }
}

/// Which dtypes an operation takes.
enum class domain : uint8_t { floating, number, boolean, any };
bool is_in(domain d, dtype type) noexcept;

/// x -> op(x), of x's dtype and shape.
symbol unary(const operation& op, domain of, symbol x, std::source_location at, attributes attr = {});
/// a, b -> op(a, b), of a common dtype (or `result`) and the broadcast shape.
symbol binary(const operation& op, domain of, symbol a, symbol b, std::source_location at,
              std::optional<dtype> result = {});
/// The gradients of two operands, summed over the axes that were broadcast.
std::vector<symbol> to_operands(const gradient_input& in, symbol da, symbol db);

/// Op::f(a, b) for each element of the walk; the output may overwrite an operand that is not broadcast.
template <class Op, class T, class Out>
void binary_kernel(const kernel_call& c, run_state& s) {
  const T* a0 = c.to<const T>(s, 0);
  const T* b0 = c.to<const T>(s, 1);
  Out* out0 = c.to<Out>(s, 2);
  for_each_inner_loop(*c.strides, [&](const inner_loop& r) {
    const T* a = a0 + r.at[0];
    const T* b = b0 + r.at[1];
    Out* out = out0 + r.out;
    const int64_t n = r.n, sa = r.stride[0], sb = r.stride[1];
    if (sa == 1 && sb == 1) {
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        out[i] = Op::f(a[i], b[i]);
    } else if (sa == 1 && sb == 0) {
      const T y = *b;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        out[i] = Op::f(a[i], y);
    } else if (sa == 0 && sb == 1) {
      const T x = *a;
#pragma GCC ivdep
      for (int64_t i = 0; i < n; ++i)
        out[i] = Op::f(x, b[i]);
    } else {
      for (int64_t i = 0; i < n; ++i)
        out[i] = Op::f(a[i * sa], b[i * sb]);
    }
  });
}

/// Sets the places of one operand and the output, and their number of elements as n[0].
void lower_elements(lowering& l);
/// Sets the walk and the places of two operands and the output.
void lower_operands(lowering& l);

template <class Op>
void lower_floating(lowering& l) {
  lower_operands(l);
  l.run(l.in(0).type, binary_kernel<Op, float, float>, binary_kernel<Op, double, double>);
}

template <class Op>
void lower_number(lowering& l) {
  lower_operands(l);
  l.run(l.in(0).type, binary_kernel<Op, float, float>, binary_kernel<Op, double, double>,
        binary_kernel<Op, int32_t, int32_t>, binary_kernel<Op, int64_t, int64_t>);
}

}  // namespace troupe
