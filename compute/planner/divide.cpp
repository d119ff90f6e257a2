// Intra-operation parallelism: calls are divided among threads. Kernels are unaware of it: each share is a kernel call
// of its own, whose operands begin where the share begins. An item's result depends on its own operands only, so the
// bits are those of the undivided call.
#include "compute/planner/program_draft.hpp"

namespace troupe {
namespace {

/// The estimated work of a call, roughly in nanoseconds of one thread, to decide whether waking a thread pays. It is
/// not measured, so that plans are reproducible.
int64_t work_of(program_draft& p, const planned_call& c) {
  constexpr int64_t flops_each = 64, bytes_each = 8, elements_each = 4;
  const lowering l{p, c};
  int64_t bytes = 0;
  for (int32_t i : c.in)
    bytes += p.value(i).bytes();
  for (int32_t i : c.out)
    bytes += p.value(i).bytes();
  int64_t elements = 0;
  for (const auto& one : c.fused)
    elements += p.value(one.out[0]).dims.elements();
  return (c.op->flops ? c.op->flops(l) : 0) / flops_each + bytes / bytes_each + elements / elements_each;
}

/// Narrows the walk to a range of its outermost loop. If it has only one loop, the range begins where no vector lies in
/// two shares.
void narrow_walk(lowering& l, int64_t first, int64_t count) {
  const walk& whole = *l.kernel.strides;
  walk& w = l.new_walk();
  w = whole;
  w.extent[0] = count;
  int64_t inner = 1;
  for (int d = 1; d < w.rank; ++d)
    inner *= w.extent[d];
  const int operands = static_cast<int>(l.call.in.size());
  for (int o = 0; o < operands; ++o)
    l.kernel.at[o].offset += first * w.stride[o][0] * l.division.step[static_cast<size_t>(o)];
  l.kernel.at[operands].offset += first * inner * l.division.step[static_cast<size_t>(operands)];
  l.kernel.strides = &w;
}

void narrow_fused(lowering& l, int64_t first, int64_t count) {
  auto& body = l.new_body();
  body = *l.kernel.fused;
  const bool by_rows = l.division.extent == fused_rows;
  (by_rows ? body.rows : body.columns) = count;
  for (auto& one : body.calls)
    for (int o = 0; o < one.operands; ++o)
      one.call.at[o].offset += first * (by_rows ? one.step[o].row : one.step[o].column);
  l.kernel.fused = &body;
}

void narrow(lowering& l, int64_t first, int64_t count) {
  if (l.kernel.fused)
    return narrow_fused(l, first, count);
  if (l.kernel.strides)
    return narrow_walk(l, first, count);
  l.kernel.first = first;
  l.kernel.n[l.division.extent] = count * l.division.each;
  for (size_t o = 0; o < l.division.step.size(); ++o)
    if (l.kernel.at[o].offset >= 0)
      l.kernel.at[o].offset += first * l.division.step[o];
}

}  // namespace

int64_t work_of(program_draft& p) {
  int64_t work = 0;
  for (const auto& c : p.calls)
    work += c.recording ? 0 : work_of(p, c);
  return work;
}

void divide_calls(program_draft& p, int64_t least_work) {
  for (auto& c : p.calls)
    c.shares = static_cast<int>(std::clamp<int64_t>(work_of(p, c) / std::max<int64_t>(1, least_work), 1, p.threads));
}

std::vector<kernel_call> kernels_of(program_draft& p, const planned_call& c) {
  lowering whole{p, c};
  c.op->lower(whole);
  whole.kernel.recording = c.recording;
  const auto& d = whole.division;
  const int64_t units = (d.items + d.unit - 1) / d.unit, shares = std::min<int64_t>(c.shares, units);
  if (shares < 2)
    return {whole.kernel};
  std::vector<kernel_call> all;
  for (int64_t share = 0; share < shares; ++share) {
    lowering l{p, c, static_cast<int>(share)};
    c.op->lower(l);
    l.kernel.recording = c.recording;
    const int64_t first = units * share / shares * d.unit,
                  end = std::min(d.items, units * (share + 1) / shares * d.unit);
    narrow(l, first, end - first);
    all.push_back(l.kernel);
  }
  return all;
}

}  // namespace troupe
