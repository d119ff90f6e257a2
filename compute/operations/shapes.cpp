// Operations that move or repeat elements: reshape, broadcast_to, one_hot.
#include "compute/operations/elementwise.hpp"

namespace troupe {
namespace {

template <class T>
void broadcast_kernel(const kernel_call& c, run_state& s) {
  const T* x = c.to<const T>(s, 0);
  T* y = c.to<T>(s, 1);
  for_each_run(*c.strides, [&](int64_t at, int64_t from, int64_t, int64_t n, int64_t stride, int64_t) {
    for (int64_t i = 0; i < n; ++i)
      y[at + i] = x[from + i * stride];
  });
}

void lower_broadcast(lowering& l) {
  walk& w = l.new_walk();
  w = make_walk(l.out().dims, l.in(0).dims, l.in(0).dims);
  l.kernel.strides = &w;
  l.kernel.at[0] = l.in_at(0);
  l.kernel.at[1] = l.out_at();
  switch (size_of(l.out().type)) {
    case 1: l.kernel.run = broadcast_kernel<uint8_t>; break;
    case 4: l.kernel.run = broadcast_kernel<uint32_t>; break;
    default: l.kernel.run = broadcast_kernel<uint64_t>; break;
  }
}

template <class Label, class T>
void one_hot_kernel(const kernel_call& c, run_state& s) {
  const Label* labels = c.to<const Label>(s, 0);
  T* y = c.to<T>(s, 1);
  for (int64_t i = 0; i < c.n[0]; ++i)
    for (int64_t j = 0; j < c.n[1]; ++j)
      y[i * c.n[1] + j] = static_cast<T>(static_cast<int64_t>(labels[i]) == j);
}

void lower_one_hot(lowering& l) {
  l.kernel.at[0] = l.in_at(0);
  l.kernel.at[1] = l.out_at();
  l.kernel.n[0] = l.out().dims[0];
  l.kernel.n[1] = l.out().dims[1];
  switch (l.in(0).type) {
    case dtype::int32: l.run(l.out().type, one_hot_kernel<int32_t, float>, one_hot_kernel<int32_t, double>); break;
    case dtype::int64: l.run(l.out().type, one_hot_kernel<int64_t, float>, one_hot_kernel<int64_t, double>); break;
    default: l.run(l.out().type, one_hot_kernel<uint8_t, float>, one_hot_kernel<uint8_t, double>); break;
  }
}

/// Coefficient and sorted unknowns of the product of all extents.
std::pair<int64_t, std::vector<int32_t>> product(const symbol_shape& dims) {
  std::pair<int64_t, std::vector<int32_t>> p{1, {}};
  for (const extent& e : dims) {
    p.first *= e.coefficient;
    if (!e.known())
      p.second.push_back(e.unknown);
  }
  std::sort(p.second.begin(), p.second.end());
  return p;
}

}  // namespace

namespace ops {

const operation reshape{.name = "reshape", .gradient = [](const gradient_input& in) {
                          return std::vector<symbol>{troupe::reshape(in.dy, symbol_shape{in.x[0].dims()}, in.at)};
                        }, .view = true};
const operation broadcast_to{.name = "broadcast_to", .gradient = [](const gradient_input& in) {
                               return std::vector<symbol>{sum_to(in.dy, in.x[0].dims(), in.at)};
                             }, .lower = lower_broadcast};
const operation one_hot{.name = "one_hot", .no_gradient = "its operand is an integer", .lower = lower_one_hot};

}  // namespace ops

symbol reshape(symbol x, symbol_shape dims, std::source_location at) {
  graph* g = common_graph("reshape", {x}, at);
  if (!g)
    return x;
  const auto differ = [&] {
    return refuse(*g, "reshape", to_string(*g, x.dims()) + " has not as many elements as " + to_string(*g, dims), at);
  };
  if (dims.size() > static_cast<size_t>(shape::max_rank))
    return differ();
  const extent inferred{-1};
  const auto have = product(x.dims());
  if (const auto hole = std::find(dims.begin(), dims.end(), inferred); hole != dims.end()) {
    // What is left of the elements when the other extents are taken out.
    *hole = extent{1};
    const auto want = product(dims);
    *hole = inferred;
    std::vector<int32_t> left;
    std::set_difference(have.second.begin(), have.second.end(), want.second.begin(), want.second.end(), std::back_inserter(left));
    if (want.first <= 0 || have.first % want.first != 0 || left.size() > 1 || left.size() + want.second.size() != have.second.size()
        || std::count(dims.begin(), dims.end(), inferred) > 1)
      return differ();
    *hole = left.empty() ? extent{have.first / want.first} : extent::of_unknown(left[0], have.first / want.first);
  }
  if (product(dims) != have)
    return differ();
  return append(*g, ops::reshape, {x}, x.type(), std::move(dims), at);
}

symbol broadcast_to(symbol x, symbol_shape dims, std::source_location at) {
  graph* g = common_graph("broadcast_to", {x}, at);
  if (!g || x.dims() == dims)
    return x;
  if (broadcast(x.dims(), dims) != dims)
    return refuse(*g, "broadcast_to", to_string(*g, x.dims()) + " does not stretch to " + to_string(*g, dims), at);
  return append(*g, ops::broadcast_to, {x}, x.type(), std::move(dims), at);
}

symbol one_hot(symbol labels, int64_t depth, dtype type, std::source_location at) {
  graph* g = common_graph("one_hot", {labels}, at);
  if (!g)
    return labels;
  if (!is_integer(labels.type()) || labels.rank() != 1 || !is_floating(type))
    return refuse(*g, "one_hot", "labels must be integers of rank 1, not " + std::string{to_string(labels.type())} + " " + to_string(*g, labels.dims()), at);
  return append(*g, ops::one_hot, {labels}, type, {labels.dims()[0], extent{depth}}, at);
}

}  // namespace troupe
