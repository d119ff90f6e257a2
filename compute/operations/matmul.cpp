// matmul: [m, k] × [k, n] -> [m, n]. The planner may give the call a bias, a relu or a mask.
#include "compute/kernels/gemm.hpp"
#include "compute/planner/plan.hpp"

namespace troupe {
namespace {

enum at { a_at, b_at, c_at, bias_at, mask_at, workspace_at };
enum flag : uint32_t { transposed_a = 1, transposed_b = 2, with_relu = 4 };

gemm_shape shape_of(const lowering& l) {
  const auto& attr = l.call.attr;
  const shape& a = l.in(0).dims;
  return {l.out().dims[0], l.out().dims[1], attr.transpose_a ? a[0] : a[1], attr.transpose_a, attr.transpose_b};
}

template <class T>
void matmul_kernel(const kernel_call& c, run_state& s) {
  gemm<T>({c.n[0], c.n[1], c.n[2], (c.flags & transposed_a) != 0, (c.flags & transposed_b) != 0},
          {c.to<const T>(s, a_at), c.to<const T>(s, b_at), c.to<T>(s, c_at), c.maybe<const T>(s, bias_at), c.maybe<const T>(s, mask_at),
           (c.flags & with_relu) != 0},
          c.maybe<std::byte>(s, workspace_at));
}

void lower_matmul(lowering& l) {
  const gemm_shape s = shape_of(l);
  auto& k = l.kernel;
  k.at[a_at] = l.in_at(0);
  k.at[b_at] = l.in_at(1);
  k.at[c_at] = l.out_at();
  if (l.call.bias >= 0)
    k.at[bias_at] = l.in_at(l.call.bias);
  if (l.call.mask >= 0)
    k.at[mask_at] = l.in_at(l.call.mask);
  k.at[workspace_at] = l.workspace();
  k.n[0] = s.m;
  k.n[1] = s.n;
  k.n[2] = s.k;
  k.flags = (s.transpose_a ? transposed_a : 0u) | (s.transpose_b ? transposed_b : 0u) | (l.call.relu ? with_relu : 0u);
  l.run(l.out().type, matmul_kernel<float>, matmul_kernel<double>);
}

int64_t workspace_of(const lowering& l) {
  return l.out().type == dtype::float64 ? gemm_workspace<double>(shape_of(l)) : gemm_workspace<float>(shape_of(l));
}

int64_t flops_of(const lowering& l) {
  const gemm_shape s = shape_of(l);
  return 2 * s.m * s.n * s.k;
}

/// With op(A) and op(B) as taken: d op(A) = dC·op(B)ᵀ, d op(B) = op(A)ᵀ·dC, transposed where the operand was.
std::vector<symbol> matmul_gradient(const gradient_input& in) {
  const bool ta = in.n.attr.transpose_a, tb = in.n.attr.transpose_b;
  const symbol a = in.x[0], b = in.x[1];
  return {ta ? matmul(b, in.dy, {tb, true}, in.at) : matmul(in.dy, b, {false, !tb}, in.at),
          tb ? matmul(in.dy, a, {true, ta}, in.at) : matmul(a, in.dy, {!ta, false}, in.at)};
}

}  // namespace

namespace ops {
const operation matmul{.name = "matmul", .gradient = matmul_gradient, .lower = lower_matmul, .workspace = workspace_of, .flops = flops_of};
}  // namespace ops

symbol matmul(symbol a, symbol b, matmul_options options, std::source_location at) {
  graph* g = common_graph("matmul", {a, b}, at);
  if (!g)
    return a.owner() ? a.owner()->make_symbol(-1) : symbol{};
  const auto operands = [&] {
    return to_string(*g, a.dims()) + (options.transpose_a ? " transposed" : "") + " and " + to_string(*g, b.dims())
           + (options.transpose_b ? " transposed" : "");
  };
  if (a.type() != b.type() || !is_floating(a.type()))
    return refuse(*g, "matmul", "no product of " + std::string{to_string(a.type())} + " and " + std::string{to_string(b.type())} + ", shapes " + operands(), at);
  if (a.rank() != 2 || b.rank() != 2)
    return refuse(*g, "matmul", "operands must have rank 2, not " + operands(), at);
  const size_t row = options.transpose_a ? 1 : 0, column = options.transpose_b ? 0 : 1;
  if (a.dims()[1 - row] != b.dims()[1 - column])
    return refuse(*g, "matmul", "inner extents differ: " + operands(), at);
  attributes attr;
  attr.transpose_a = options.transpose_a;
  attr.transpose_b = options.transpose_b;
  return append(*g, ops::matmul, {a, b}, a.type(), {a.dims()[row], b.dims()[column]}, at, std::move(attr));
}

}  // namespace troupe
