// concat: joins operands along an axis.
#include "compute/operations/arrays/reduce.hpp"

namespace troupe {
namespace {

constexpr int operands_max = 5;  ///< Operands of one call, besides the output.

enum extent_of { runs, of_first_part, part_count = of_first_part + operands_max };

/// In each operand, the axis and all after it form contiguous ranges; the axes before it give their number, `runs`.
void concat_kernel(const kernel_call& c, run_state& s) {
  const auto count = static_cast<int>(c.n[part_count]);
  auto* y = c.to<std::byte>(s, count);
  const std::byte* x[operands_max] = {};
  for (int p = 0; p < count; ++p)
    x[p] = c.to<const std::byte>(s, p);
  for (int64_t i = 0; i < c.n[runs]; ++i)
    for (int p = 0; p < count; ++p) {
      const auto bytes = static_cast<size_t>(c.n[of_first_part + p]);
      std::memcpy(y, x[p], bytes);
      x[p] += bytes;
      y += bytes;
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
  const auto count = static_cast<int>(l.call.in.size());
  auto& n = l.kernel.n;
  n[runs] = 1;
  for (int i = 0; i < axis; ++i)
    n[runs] *= l.out().dims[i];
  n[part_count] = count;
  for (int p = 0; p < count; ++p) {
    l.kernel.at[p] = l.in_at(p);
    n[of_first_part + p] = l.division.step[static_cast<size_t>(p)] = run_bytes(l.in(p));
  }
  l.kernel.at[count] = l.out_at();
  l.division.step[static_cast<size_t>(count)] = run_bytes(l.out());
  l.division.items = n[runs];
  l.kernel.run = concat_kernel;
}

std::vector<symbol> concat_gradient(const gradient_input& in) {
  std::vector<int64_t> extents;
  for (symbol x : in.x)
    extents.push_back(x.dims()[static_cast<size_t>(in.n.attr.axis)].coefficient);
  return split(in.dy, std::move(extents), in.n.attr.axis, in.at);
}

symbol concat_few(const std::vector<symbol>& operands, int axis, std::source_location at) {
  graph* g = common_graph("concat", operands, at);
  if (!g)
    return operands[0].owner() ? symbol_of(*operands[0].owner(), -1) : symbol{};
  const symbol first = operands[0];
  const auto from_front = normal_axis(axis, first.rank());
  const auto along = static_cast<size_t>(from_front.value_or(0));
  symbol_shape dims = first.dims();
  for (symbol operand : std::span{operands}.subspan(1)) {
    bool alike = from_front && first.rank() == operand.rank() && first.type() == operand.type()
                 && first.dims()[along].known() && operand.dims()[along].known();
    for (size_t i = 0; alike && i < dims.size(); ++i)
      alike = i == along || first.dims()[i] == operand.dims()[i];
    if (!alike)
      return refuse(*g, "concat",
                    describe(first) + " and " + describe(operand)
                        + " must be of one dtype and shape but for the extent of axis " + std::to_string(axis)
                        + ", a known number",
                    at);
    dims[along].coefficient += operand.dims()[along].coefficient;
  }
  attributes attr;
  attr.axis = *from_front;
  return append(*g, ops::concat, operands, first.type(), std::move(dims), at, std::move(attr));
}

}  // namespace

namespace ops {
const operation concat{.name = "concat", .gradient = concat_gradient, .lower = lower_concat};
}  // namespace ops

symbol concat(std::span<const symbol> operands, int axis, std::source_location at) {
  if (operands.size() < 2)
    return operands.empty() ? symbol{} : operands[0];  // Without an operand there is no graph to keep an error in.
  // Joins at most five at a time, recursively, so that no operand is copied more than a few times.
  std::vector<symbol> few;
  const size_t joins = std::min<size_t>(operands_max, operands.size());
  for (size_t i = 0; i < joins; ++i) {
    const size_t begin = operands.size() * i / joins, end = operands.size() * (i + 1) / joins;
    few.push_back(concat(operands.subspan(begin, end - begin), axis, at));
  }
  return concat_few(few, axis, at);
}

symbol stack(std::span<const symbol> operands, int axis, std::source_location at) {
  std::vector<symbol> apart;
  for (symbol operand : operands)
    apart.push_back(expand_dims(operand, axis, at));
  return concat(apart, axis, at);
}

}  // namespace troupe
