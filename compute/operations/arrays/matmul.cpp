// matmul: [m, k] × [k, n] -> [m, n], into which the planner may fuse a bias, a relu or a mask. Also batched_matmul:
// many such products at once.
#include "compute/kernels/gemm.hpp"
#include "compute/operations/walk.hpp"

namespace troupe {
namespace {

enum at { a_at, b_at, c_at, bias_at, mask_at, workspace_at };
/// The last three are row strides as stored, in elements.
enum extent_of { rows, columns, depth, matrices, row_a, row_b, row_c };
enum flag : uint32_t { transposed_a = 1, transposed_b = 2, with_relu = 4 };

/// The shape of the product over the last two axes.
gemm_shape shape_of(const lowering& l) {
  const auto& attr = l.call.attr;
  const shape &a = l.in(0).dims, &c = l.out().dims;
  const int row = c.rank() - 2;
  return {c[row], c[row + 1], attr.transpose_a ? a[row] : a[row + 1], attr.transpose_a, attr.transpose_b};
}

template <class T>
void matmul_kernel(const kernel_call& c, run_state& s) {
  gemm<T>({c.n[rows], c.n[columns], c.n[depth], (c.flags & transposed_a) != 0, (c.flags & transposed_b) != 0},
          {.a = c.to<const T>(s, a_at),
           .b = c.to<const T>(s, b_at),
           .c = c.to<T>(s, c_at),
           .bias = c.maybe<const T>(s, bias_at),
           .mask = c.maybe<const T>(s, mask_at),
           .relu = (c.flags & with_relu) != 0,
           .lda = c.n[row_a],
           .ldb = c.n[row_b],
           .ldc = c.n[row_c]},
          c.maybe<std::byte>(s, workspace_at));
}

template <class T>
void batched_kernel(const kernel_call& c, run_state& s) {
  const gemm_shape one{c.n[rows], c.n[columns], c.n[depth], (c.flags & transposed_a) != 0,
                       (c.flags & transposed_b) != 0};
  const T* a = c.to<const T>(s, a_at);
  const T* b = c.to<const T>(s, b_at);
  T* y = c.to<T>(s, c_at);
  for (int64_t i = 0; i < c.n[matrices]; ++i, a += one.m * one.k, b += one.k * one.n, y += one.m * one.n)
    gemm<T>(one, {a, b, y}, c.maybe<std::byte>(s, workspace_at));
}

/// Divides by rows of C if each share gets many rows or columns are few, else by columns.
void divide_matrix(lowering& l, const gemm_shape& s) {
  constexpr int64_t many_rows = 64, panel = 32;
  const auto& n = l.kernel.n;
  const int64_t size = size_of(l.out().type);
  if (s.m >= many_rows * l.call.shares || s.n < panel * l.call.shares)
    l.division = {.items = s.m,
                  .unit = 8,
                  .extent = rows,
                  .step = {(s.transpose_a ? 1 : n[row_a]) * size, 0, n[row_c] * size, 0, n[row_c] * size}};
  else
    l.division = {.items = s.n,
                  .unit = panel,
                  .extent = columns,
                  .step = {0, (s.transpose_b ? n[row_b] : 1) * size, size, size, size}};
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
  k.n[rows] = s.m;
  k.n[columns] = s.n;
  k.n[depth] = s.k;
  k.n[row_a] = s.transpose_a ? s.m : s.k;
  k.n[row_b] = s.transpose_b ? s.k : s.n;
  k.n[row_c] = s.n;
  k.flags = (s.transpose_a ? transposed_a : 0u) | (s.transpose_b ? transposed_b : 0u) | (l.call.relu ? with_relu : 0u);
  divide_matrix(l, s);
  l.run(l.out().type, matmul_kernel<float>, matmul_kernel<double>);
}

void lower_batched(lowering& l) {
  lower_matmul(l);
  l.kernel.n[matrices] = l.out().dims[0];
  const auto bytes_of = [](const planned_value& v) { return v.dims.inner().elements() * size_of(v.type); };
  l.division = {
      .items = l.out().dims[0], .extent = matrices, .step = {bytes_of(l.in(0)), bytes_of(l.in(1)), bytes_of(l.out())}};
  l.run(l.out().type, batched_kernel<float>, batched_kernel<double>);
}

int64_t workspace_of(const lowering& l) {
  return l.out().type == dtype::float64 ? gemm_workspace<double>(shape_of(l)) : gemm_workspace<float>(shape_of(l));
}

int64_t flops_of(const lowering& l) {
  const gemm_shape s = shape_of(l);
  return 2 * s.m * s.n * s.k * (l.out().dims.rank() > 2 ? l.out().dims[0] : 1);
}

/// d op(A) = dC·op(B)ᵀ and d op(B) = op(A)ᵀ·dC, each transposed if its operand was.
std::vector<symbol> matmul_gradient(const gradient_input& in) {
  const bool ta = in.n.attr.transpose_a, tb = in.n.attr.transpose_b;
  const symbol a = in.x[0], b = in.x[1];
  return {ta ? matmul(b, in.dy, {tb, true}, in.at) : matmul(in.dy, b, {false, !tb}, in.at),
          tb ? matmul(in.dy, a, {true, ta}, in.at) : matmul(a, in.dy, {!ta, false}, in.at)};
}

}  // namespace

namespace ops {
const operation matmul{
    .name = "matmul", .gradient = matmul_gradient, .lower = lower_matmul, .workspace = workspace_of, .flops = flops_of};
const operation batched_matmul{.name = "batched_matmul",
                               .gradient = matmul_gradient,
                               .lower = lower_batched,
                               .workspace = workspace_of,
                               .flops = flops_of};
}  // namespace ops

namespace {

symbol_shape leading(symbol x) { return {x.dims().begin(), x.dims().end() - 2}; }

symbol_shape with_matrix(symbol_shape lead, symbol x) {
  lead.insert(lead.end(), x.dims().end() - 2, x.dims().end());
  return lead;
}

/// The product if at least one operand has leading axes. These are broadcast to `lead`.
symbol many(graph& g, symbol a, symbol b, const symbol_shape& lead, symbol_shape dims, const matmul_options& options,
            attributes attr, std::source_location at) {
  if (b.rank() == 2 && !options.transpose_a)  // A single product of all rows of `a` with one matrix.
    return reshape(matmul(reshape(a, {extent{-1}, a.dims().back()}, at), b, options, at), std::move(dims), at);
  const auto flat = [&](symbol x) {
    x = broadcast_to(x, with_matrix(lead, x), at);
    return x.rank() == 3 ? x : reshape(x, {extent{-1}, x.dims()[x.dims().size() - 2], x.dims().back()}, at);
  };
  const symbol x = flat(a), y = flat(b);
  if (!x.valid() || !y.valid())
    return x.valid() ? y : x;
  const symbol z = append(g, ops::batched_matmul, {x, y}, x.type(), {x.dims()[0], dims[dims.size() - 2], dims.back()},
                          at, std::move(attr));
  return dims.size() == 3 ? z : reshape(z, std::move(dims), at);
}

}  // namespace

symbol matmul(symbol a, symbol b, matmul_options options, std::source_location at) {
  graph* g = common_graph("matmul", {a, b}, at);
  if (!g)
    return a.owner() ? symbol_of(*a.owner(), -1) : symbol{};
  const auto operands = [&] {
    return to_string(*g, a.dims()) + (options.transpose_a ? " transposed" : "") + " and " + to_string(*g, b.dims())
           + (options.transpose_b ? " transposed" : "");
  };
  if (a.type() != b.type() || !is_floating(a.type()))
    return refuse(*g, "matmul",
                  "no product of " + std::string{to_string(a.type())} + " and " + std::string{to_string(b.type())}
                      + ", shapes " + operands(),
                  at);
  if (a.rank() < 2 || b.rank() < 2)
    return refuse(*g, "matmul", "operands must have rank 2 or more, not " + operands(), at);
  const auto extent_of = [](symbol x, bool row, bool transposed) {
    return x.dims()[x.dims().size() - (row != transposed ? 2 : 1)];
  };
  if (extent_of(a, false, options.transpose_a) != extent_of(b, true, options.transpose_b))
    return refuse(*g, "matmul", "inner extents differ: " + operands(), at);
  const auto lead = broadcast(leading(a), leading(b));
  if (!lead)
    return refuse(*g, "matmul", "leading axes do not broadcast: " + operands(), at);
  attributes attr;
  attr.transpose_a = options.transpose_a;
  attr.transpose_b = options.transpose_b;
  symbol_shape dims = *lead;
  dims.push_back(extent_of(a, true, options.transpose_a));
  dims.push_back(extent_of(b, false, options.transpose_b));
  if (!lead->empty())
    return many(*g, a, b, *lead, std::move(dims), options, std::move(attr), at);
  return append(*g, ops::matmul, {a, b}, a.type(), std::move(dims), at, std::move(attr));
}

}  // namespace troupe
