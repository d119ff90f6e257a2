// concat: parts side by side along the last axis; columns: some of them again. Each is the other's gradient.
#include "compute/planner/plan.hpp"

namespace troupe {
namespace {

/// Rows are the elements of all axes but the last.
int64_t rows_of(const shape& dims) {
  int64_t rows = 1;
  for (int i = 0; i + 1 < dims.rank(); ++i)
    rows *= dims[i];
  return rows;
}

int64_t row_bytes(const planned_value& v) { return v.dims[v.dims.rank() - 1] * size_of(v.type); }

void concat_kernel(const kernel_call& c, run_state& s) {
  const auto* a = c.to<const std::byte>(s, 0);
  const auto* b = c.to<const std::byte>(s, 1);
  auto* y = c.to<std::byte>(s, 2);
  const auto of_a = static_cast<size_t>(c.n[1]), of_b = static_cast<size_t>(c.n[2]);
  for (int64_t i = 0; i < c.n[0]; ++i, a += of_a, b += of_b, y += of_a + of_b) {
    std::memcpy(y, a, of_a);
    std::memcpy(y + of_a, b, of_b);
  }
}

void lower_concat(lowering& l) {
  l.kernel.at[0] = l.in_at(0);
  l.kernel.at[1] = l.in_at(1);
  l.kernel.at[2] = l.out_at();
  l.kernel.n[0] = rows_of(l.out().dims);
  l.kernel.n[1] = row_bytes(l.in(0));
  l.kernel.n[2] = row_bytes(l.in(1));
  l.kernel.run = concat_kernel;
}

void columns_kernel(const kernel_call& c, run_state& s) {
  const auto* x = c.to<const std::byte>(s, 0) + c.n[3];
  auto* y = c.to<std::byte>(s, 1);
  for (int64_t i = 0; i < c.n[0]; ++i, x += c.n[1], y += c.n[2])
    std::memcpy(y, x, static_cast<size_t>(c.n[2]));
}

void lower_columns(lowering& l) {
  l.kernel.at[0] = l.in_at(0);
  l.kernel.at[1] = l.out_at();
  l.kernel.n[0] = rows_of(l.out().dims);
  l.kernel.n[1] = row_bytes(l.in(0));
  l.kernel.n[2] = row_bytes(l.out());
  l.kernel.n[3] = l.call.attr.first * size_of(l.out().type);
  l.kernel.run = columns_kernel;
}

std::vector<symbol> concat_gradient(const gradient_input& in) {
  const int64_t of_a = in.x[0].dims().back().coefficient, of_b = in.x[1].dims().back().coefficient;
  return {columns(in.dy, 0, of_a, in.at), columns(in.dy, of_a, of_b, in.at)};
}

/// dy between columns of zeros.
std::vector<symbol> columns_gradient(const gradient_input& in) {
  const int64_t all = in.x[0].dims().back().coefficient, first = in.n.attr.first, count = in.y.dims().back().coefficient;
  const auto zeros = [&](int64_t width) {
    symbol_shape dims = in.y.dims();
    dims.back() = extent{width};
    return fill(in.g, 0, in.y.type(), std::move(dims), in.at);
  };
  std::vector<symbol> parts;
  if (first > 0)
    parts.push_back(zeros(first));
  parts.push_back(in.dy);
  if (first + count < all)
    parts.push_back(zeros(all - first - count));
  return {concat(parts, in.at)};
}

symbol concat_two(symbol a, symbol b, std::source_location at) {
  graph* g = common_graph("concat", {a, b}, at);
  if (!g)
    return a.valid() ? b : a;
  const bool alike = a.rank() == b.rank() && a.rank() > 0 && a.type() == b.type()
                     && std::equal(a.dims().begin(), a.dims().end() - 1, b.dims().begin());
  if (!alike || !a.dims().back().known() || !b.dims().back().known())
    return refuse(*g, "concat", std::string{to_string(a.type())} + " " + to_string(*g, a.dims()) + " and " + std::string{to_string(b.type())} + " "
                                  + to_string(*g, b.dims()) + " must be of one dtype and shape but for the last extent, a known number", at);
  symbol_shape dims = a.dims();
  dims.back().coefficient += b.dims().back().coefficient;
  return append(*g, ops::concat, {a, b}, a.type(), std::move(dims), at);
}

}  // namespace

namespace ops {
const operation concat{.name = "concat", .gradient = concat_gradient, .lower = lower_concat};
const operation columns{.name = "columns", .gradient = columns_gradient, .lower = lower_columns};
}  // namespace ops

symbol concat(std::span<const symbol> parts, std::source_location at) {
  if (parts.size() < 2)
    return parts.empty() ? symbol{} : parts[0];  // There is no graph to keep an error in.
  // In halves, so that of many parts none is copied more than a few times.
  const size_t half = parts.size() / 2;
  return concat_two(concat(parts.first(half), at), concat(parts.subspan(half), at), at);
}

symbol columns(symbol x, int64_t first, int64_t count, std::source_location at) {
  graph* g = common_graph("columns", {x}, at);
  if (!g)
    return x;
  if (x.rank() == 0 || !x.dims().back().known() || first < 0 || count < 1 || first > x.dims().back().coefficient - count)
    return refuse(*g, "columns", "[" + std::to_string(first) + ", " + std::to_string(first + count) + ") are not all columns of "
                                   + to_string(*g, x.dims()), at);
  symbol_shape dims = x.dims();
  dims.back() = extent{count};
  return append(*g, ops::columns, {x}, x.type(), std::move(dims), at, {.first = first});
}

}  // namespace troupe
