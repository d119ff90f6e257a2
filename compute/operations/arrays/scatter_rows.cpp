// Writes a sparse gradient over the previous one: clears the rows that were touched before, then sums the updates of
// the rows touched now. The cost grows with these rows, not with the table.
#include "compute/operations/lowering.hpp"
#include "compute/parameters/touched_rows.hpp"

namespace troupe {
namespace {

enum extent_of { rows, inner };

template <class T, class Index>
void add_rows(const kernel_call& c, run_state& s, const row_lookups::lookup& lookup) {
  const auto* indices = reinterpret_cast<const Index*>(s.bases[lookup.indices.base] + lookup.indices.offset);
  const auto* updates = reinterpret_cast<const T*>(s.bases[lookup.updates.base] + lookup.updates.offset);
  if (!indices_fit(c, s, indices, lookup.count, c.n[rows]))
    return;
  T* y = c.to<T>(s, 0);
  auto* bits = c.to<uint64_t>(s, 1);
  for (int64_t i = 0; i < lookup.count; ++i, updates += c.n[inner]) {
    const auto index = static_cast<int64_t>(indices[i]);
    bits[index / 64] |= uint64_t{1} << (index % 64);
    T* row = y + index * c.n[inner];
    for (int64_t j = 0; j < c.n[inner]; ++j)
      row[j] += updates[j];
  }
}

template <class T>
void scatter_rows_kernel(const kernel_call& c, run_state& s) {
  T* y = c.to<T>(s, 0);
  auto* bits = c.to<uint64_t>(s, 1);
  for (int64_t row = 0; (row = next_row(bits, row, c.n[rows], true)) < c.n[rows];) {
    const int64_t last = next_row(bits, row, c.n[rows], false);
    std::fill(y + row * c.n[inner], y + last * c.n[inner], T{0});
    row = last;
  }
  std::fill_n(bits, (c.n[rows] + 63) / 64, uint64_t{0});
  for (const auto& lookup : c.lookups->all)
    lookup.wide ? add_rows<T, int64_t>(c, s, lookup) : add_rows<T, int32_t>(c, s, lookup);
}

void lower_scatter_rows(lowering& l) {
  const shape& y = l.out().dims;
  l.kernel.n[rows] = y[0];
  l.kernel.n[inner] = y.elements() / y[0];
  l.kernel.at[0] = l.out_at();
  l.kernel.at[1] = {base_gradient, l.call.attr.low[0]};
  auto& lookups = l.new_lookups();
  for (int i = 0; i < static_cast<int>(l.call.in.size()); i += 2)
    lookups.all.push_back({l.in_at(i), l.in_at(i + 1), l.in(i).dims.elements(), l.in(i).type == dtype::int64});
  l.kernel.lookups = &lookups;
  l.run(l.out().type, scatter_rows_kernel<float>, scatter_rows_kernel<double>);
}

}  // namespace

namespace ops {
const operation scatter_rows{.name = "scatter_rows", .no_gradient = "made by the planner", .lower = lower_scatter_rows};
}  // namespace ops

}  // namespace troupe
