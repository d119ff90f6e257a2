#include "compute/operations/walk.hpp"

namespace troupe {

std::optional<symbol_shape> broadcast(const symbol_shape& a, const symbol_shape& b) {
  const symbol_shape& longer = a.size() >= b.size() ? a : b;
  const symbol_shape& shorter = a.size() >= b.size() ? b : a;
  symbol_shape out = longer;
  for (size_t i = 0; i < shorter.size(); ++i) {
    extent& e = out[out.size() - 1 - i];
    const extent& f = shorter[shorter.size() - 1 - i];
    if (e == f || f == extent{1})
      continue;
    if (e != extent{1})
      return {};
    e = f;
  }
  return out;
}

strides row_major(const shape& operand) {
  strides all(static_cast<size_t>(operand.rank()));
  int64_t n = 1;
  for (int i = operand.rank() - 1; i >= 0; --i) {
    all[static_cast<size_t>(i)] = n;
    n *= operand[i];
  }
  return all;
}

strides stretched(const shape& out, const shape& operand) {
  const strides own = row_major(operand);
  strides all(static_cast<size_t>(out.rank()));
  const int lead = out.rank() - operand.rank();
  for (int i = lead; i < out.rank(); ++i)
    all[static_cast<size_t>(i)] = operand[i - lead] == 1 && out[i] != 1 ? 0 : own[static_cast<size_t>(i - lead)];
  return all;
}

walk make_walk(const shape& out, std::initializer_list<strides> operands) {
  walk w;
  if (out.elements() == 0) {
    w.rank = 1;
    return w;
  }
  for (int i = 0; i < out.rank(); ++i) {
    if (out[i] == 1)
      continue;
    const auto axis = static_cast<size_t>(i);
    const int last = w.rank - 1;
    bool even = last >= 0;  // Adjacent loops are merged if each operand has a constant stride across both.
    for (int o = 0; const auto& s : operands)
      even = even && w.stride[o++][last] == s[axis] * out[i];
    const int to = even ? last : w.rank++;
    w.extent[to] = even ? w.extent[to] * out[i] : out[i];
    for (int o = 0; const auto& s : operands)
      w.stride[o++][to] = s[axis];
  }
  if (w.rank == 0) {
    w.rank = 1;
    w.extent[0] = 1;
  }
  return w;
}

void lower_walk(lowering& l, const walk& w) {
  l.kernel.strides = &(l.new_walk() = w);
  l.division = {.items = w.extent[0], .unit = w.rank == 1 ? elements_chunk : 1};
  int at = 0;
  for (int32_t i : l.call.in)
    l.division.step[static_cast<size_t>(at++)] = size_of(l.values().value(i).type);
  l.division.step[static_cast<size_t>(at)] = size_of(l.out().type);
}

}  // namespace troupe
