// Operations on rows at indices: gather, its adjoint scatter_add, and one_hot. The operand is seen as [outer, n,
// inner].
#include "compute/operations/arrays/reduce.hpp"

namespace troupe {
namespace {

enum extent_of { outer, indexed, inner, rows };

template <class Index>
void gather_kernel(const kernel_call& c, run_state& s) {
  const auto* x = c.to<const std::byte>(s, 0);
  const Index* indices = c.to<const Index>(s, 1);
  auto* y = c.to<std::byte>(s, 2);
  if (!indices_fit(c, s, indices, c.n[indexed], c.n[rows]))
    return;
  const auto bytes = static_cast<size_t>(c.n[inner]);
  for (int64_t o = 0; o < c.n[outer]; ++o, x += c.n[rows] * c.n[inner])
    for (int64_t i = 0; i < c.n[indexed]; ++i, y += bytes)
      std::memcpy(y, x + static_cast<int64_t>(indices[i]) * c.n[inner], bytes);
}

template <class T, class Index>
void scatter_add_kernel(const kernel_call& c, run_state& s) {
  const Index* indices = c.to<const Index>(s, 0);
  const T* updates = c.to<const T>(s, 1);
  T* y = c.to<T>(s, 2);
  std::fill_n(y, c.n[outer] * c.n[rows] * c.n[inner], T{0});
  if (!indices_fit(c, s, indices, c.n[indexed], c.n[rows]))
    return;
  for (int64_t o = 0; o < c.n[outer]; ++o, y += c.n[rows] * c.n[inner])
    for (int64_t i = 0; i < c.n[indexed]; ++i, updates += c.n[inner]) {
      T* row = y + static_cast<int64_t>(indices[i]) * c.n[inner];
      for (int64_t j = 0; j < c.n[inner]; ++j)
        row[j] = modular(row[j], updates[j], [](auto a, auto b) { return a + b; });
    }
}

template <class Index, class T>
void one_hot_kernel(const kernel_call& c, run_state& s) {
  const Index* indices = c.to<const Index>(s, 0);
  T* y = c.to<T>(s, 1);
  std::fill_n(y, c.n[0] * c.n[1], T{0});
  for (int64_t i = 0; i < c.n[0]; ++i)
    if (static_cast<uint64_t>(indices[i]) < static_cast<uint64_t>(c.n[1]))
      y[i * c.n[1] + static_cast<int64_t>(indices[i])] = T{1};
}

void lower_gather(lowering& l) {
  const shape& x = l.in(0).dims;
  auto& n = l.kernel.n;
  n[outer] = n[inner] = 1;
  for (int i = 0; i < x.rank(); ++i)
    (i < l.call.attr.axis ? n[outer] : i == l.call.attr.axis ? n[rows] : n[inner]) *= i == l.call.attr.axis ? 1 : x[i];
  n[rows] = x[l.call.attr.axis];
  n[inner] *= size_of(l.in(0).type);
  n[indexed] = l.in(1).dims.elements();
  l.kernel.at[0] = l.in_at(0);
  l.kernel.at[1] = l.in_at(1);
  l.kernel.at[2] = l.out_at();
  if (n[outer] == 1)
    l.division = {.items = n[indexed], .extent = indexed, .step = {0, size_of(l.in(1).type), n[inner]}};
  l.kernel.run = l.in(1).type == dtype::int64 ? gather_kernel<int64_t> : gather_kernel<int32_t>;
}

template <class Index>
void run_scatter(lowering& l) {
  l.run(l.out().type, scatter_add_kernel<float, Index>, scatter_add_kernel<double, Index>,
        scatter_add_kernel<int32_t, Index>, scatter_add_kernel<int64_t, Index>);
}

void lower_scatter_add(lowering& l) {
  const shape& y = l.out().dims;  // [outer, n, inner]
  l.kernel.n[outer] = y[0];
  l.kernel.n[rows] = y[1];
  l.kernel.n[inner] = y[2];
  l.kernel.n[indexed] = l.in(0).dims.elements();
  l.kernel.at[0] = l.in_at(0);
  l.kernel.at[1] = l.in_at(1);
  l.kernel.at[2] = l.out_at();
  l.in(0).type == dtype::int64 ? run_scatter<int64_t>(l) : run_scatter<int32_t>(l);
}

void lower_one_hot(lowering& l) {
  l.kernel.at[0] = l.in_at(0);
  l.kernel.at[1] = l.out_at();
  l.kernel.n[0] = l.in(0).dims.elements();
  l.kernel.n[1] = l.out().dims[l.out().dims.rank() - 1];
  l.division = {.items = l.kernel.n[0], .step = {size_of(l.in(0).type), l.kernel.n[1] * size_of(l.out().type)}};
  switch (l.in(0).type) {
    case dtype::int32: l.run(l.out().type, one_hot_kernel<int32_t, float>, one_hot_kernel<int32_t, double>); break;
    case dtype::int64: l.run(l.out().type, one_hot_kernel<int64_t, float>, one_hot_kernel<int64_t, double>); break;
    default: l.run(l.out().type, one_hot_kernel<uint8_t, float>, one_hot_kernel<uint8_t, double>); break;
  }
}

bool is_index(dtype type) { return type == dtype::int32 || type == dtype::int64; }

/// The product of extents [first, last); nothing if more than one is unknown.
std::optional<extent> product(const symbol_shape& dims, size_t first, size_t last) {
  extent all{1};
  for (size_t i = first; i < last; ++i) {
    if (!dims[i].known() && !all.known())
      return {};
    const int64_t n = all.coefficient * dims[i].coefficient;
    all = extent{all.known() ? dims[i] : all};
    all.coefficient = n;
  }
  return all;
}

/// The gradient of gather: reshapes dy [outer..., indices..., inner...] to [outer, indices, inner] and scatters it.
std::vector<symbol> gather_gradient(const gradient_input& in) {
  const auto axis = static_cast<size_t>(in.n.attr.axis);
  const auto& x = in.x[0].dims();
  const auto o = product(x, 0, axis), i = product(in.x[1].dims(), 0, in.x[1].dims().size()),
             r = product(x, axis + 1, x.size());
  if (!o || !i || !r)
    return {refuse(
        in.g, "gather",
        "no gradient where two unknown extents are multiplied: " + describe(in.x[0]) + " at " + describe(in.x[1]),
        in.n.at)};
  const symbol flat = reshape(in.x[1], {*i}, in.at);
  const symbol dx = scatter_add_along(flat, reshape(in.dy, {*o, *i, *r}, in.at), x[axis], in.at);
  return {reshape(dx, symbol_shape{x}, in.at), symbol{}};
}

}  // namespace

namespace ops {
const operation gather{.name = "gather", .gradient = gather_gradient, .lower = lower_gather};
const operation scatter_add{.name = "scatter_add",
                            .gradient =
                                [](const gradient_input& in) {
                                  return std::vector<symbol>{symbol{}, troupe::gather(in.dy, in.x[0], 1, in.at)};
                                },
                            .lower = lower_scatter_add};
const operation one_hot{.name = "one_hot", .no_gradient = "its operand is an integer", .lower = lower_one_hot};
}  // namespace ops

symbol gather(symbol x, symbol indices, int axis, std::source_location at) {
  graph* g = common_graph("gather", {x, indices}, at);
  if (!g)
    return x.valid() ? indices : x;
  const auto a = normal_axis(axis, x.rank());
  if (!a || !is_index(indices.type()))
    return refuse(*g, "gather",
                  "needs an axis of its operand and int32 or int64 indices, not axis " + std::to_string(axis) + " of "
                      + describe(x) + " and " + describe(indices),
                  at);
  symbol_shape dims = x.dims();
  const auto place = dims.erase(dims.begin() + *a);
  dims.insert(place, indices.dims().begin(), indices.dims().end());
  attributes attr;
  attr.axis = *a;
  return append(*g, ops::gather, {x, indices}, x.type(), std::move(dims), at, std::move(attr));
}

symbol scatter_add_along(symbol indices, symbol updates, extent n, std::source_location at) {
  graph* g = common_graph("scatter_add", {indices, updates}, at);
  if (!g)
    return indices.valid() ? updates : indices;
  return append(*g, ops::scatter_add, {indices, updates}, updates.type(), {updates.dims()[0], n, updates.dims()[2]},
                at);
}

symbol scatter_add(symbol indices, symbol updates, int64_t n, std::source_location at) {
  graph* g = common_graph("scatter_add", {indices, updates}, at);
  if (!g)
    return indices.valid() ? updates : indices;
  const auto& of_indices = indices.dims();
  const auto& of_updates = updates.dims();
  const bool fits = is_index(indices.type()) && is_number(updates.type()) && n >= 0
                    && of_updates.size() >= of_indices.size()
                    && std::equal(of_indices.begin(), of_indices.end(), of_updates.begin());
  const auto i = product(of_indices, 0, of_indices.size());
  const auto r = fits ? product(of_updates, of_indices.size(), of_updates.size()) : std::nullopt;
  if (!fits || !i || !r)
    return refuse(*g, "scatter_add",
                  "needs int32 or int64 indices and updates, numbers, whose first axes are theirs, not "
                      + describe(indices) + " and " + describe(updates),
                  at);
  const symbol y = scatter_add_along(reshape(indices, {*i}, at), reshape(updates, {extent{1}, *i, *r}, at), extent{n},
                                     at);
  symbol_shape dims{extent{n}};
  dims.insert(dims.end(), of_updates.begin() + static_cast<std::ptrdiff_t>(of_indices.size()), of_updates.end());
  return reshape(y, std::move(dims), at);
}

symbol one_hot(symbol indices, int64_t depth, dtype type, std::source_location at) {
  graph* g = common_graph("one_hot", {indices}, at);
  if (!g)
    return indices;
  if (!is_integer(indices.type()) || !is_floating(type) || depth < 1)
    return refuse(*g, "one_hot",
                  "needs integers, a depth of at least 1 and a floating dtype, not " + describe(indices) + ", "
                      + std::to_string(depth) + " and " + std::string{to_string(type)},
                  at);
  symbol_shape dims = indices.dims();
  dims.push_back(extent{depth});
  return append(*g, ops::one_hot, {indices}, type, std::move(dims), at);
}

}  // namespace troupe
