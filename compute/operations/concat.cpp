// concat: parts one after the other along an axis.
#include "compute/operations/reduce.hpp"

namespace troupe {
namespace {

/// The axis and all after it are one run of bytes; what is before counts the runs.
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
  const int axis = l.call.attr.axis;
  const auto run_bytes = [axis](const planned_value& v) {
    int64_t n = size_of(v.type);
    for (int i = axis; i < v.dims.rank(); ++i)
      n *= v.dims[i];
    return n;
  };
  l.kernel.at[0] = l.in_at(0);
  l.kernel.at[1] = l.in_at(1);
  l.kernel.at[2] = l.out_at();
  l.kernel.n[0] = 1;
  for (int i = 0; i < axis; ++i)
    l.kernel.n[0] *= l.out().dims[i];
  l.kernel.n[1] = run_bytes(l.in(0));
  l.kernel.n[2] = run_bytes(l.in(1));
  l.kernel.run = concat_kernel;
}

std::vector<symbol> concat_gradient(const gradient_input& in) {
  const auto axis = static_cast<size_t>(in.n.attr.axis);
  return split(in.dy, {in.x[0].dims()[axis].coefficient, in.x[1].dims()[axis].coefficient}, in.n.attr.axis, in.at);
}

symbol concat_two(symbol a, symbol b, int axis, std::source_location at) {
  graph* g = common_graph("concat", {a, b}, at);
  if (!g)
    return a.valid() ? b : a;
  const auto from_front = normal_axis(axis, a.rank());
  const auto along = static_cast<size_t>(from_front.value_or(0));
  bool alike = from_front && a.rank() == b.rank() && a.type() == b.type() && a.dims()[along].known() && b.dims()[along].known();
  for (size_t i = 0; alike && i < a.dims().size(); ++i)
    alike = i == along || a.dims()[i] == b.dims()[i];
  if (!alike)
    return refuse(*g, "concat", describe(a) + " and " + describe(b) + " must be of one dtype and shape but for the extent of axis " + std::to_string(axis)
                                  + ", a known number", at);
  symbol_shape dims = a.dims();
  dims[along].coefficient += b.dims()[along].coefficient;
  attributes attr;
  attr.axis = *from_front;
  return append(*g, ops::concat, {a, b}, a.type(), std::move(dims), at, std::move(attr));
}

}  // namespace

namespace ops {
const operation concat{.name = "concat", .gradient = concat_gradient, .lower = lower_concat};
}  // namespace ops

symbol concat(std::span<const symbol> parts, int axis, std::source_location at) {
  if (parts.size() < 2)
    return parts.empty() ? symbol{} : parts[0];  // There is no graph to keep an error in.
  // In halves, so that of many parts none is copied more than a few times.
  const size_t half = parts.size() / 2;
  return concat_two(concat(parts.first(half), axis, at), concat(parts.subspan(half), axis, at), axis, at);
}

symbol stack(std::span<const symbol> parts, int axis, std::source_location at) {
  std::vector<symbol> apart;
  for (symbol part : parts)
    apart.push_back(expand_dims(part, axis, at));
  return concat(apart, axis, at);
}

}  // namespace troupe
