// Binary search in a sorted row (numpy.searchsorted, side "left"): yields the bucket, of n + 1, that each element falls
// into.
#include "compute/operations/lowering.hpp"

namespace troupe {
namespace {

template <class T>
void search_sorted_kernel(const kernel_call& c, run_state& s) {
  const T* sorted = c.to<const T>(s, 0);
  const T* x = c.to<const T>(s, 1);
  auto* y = c.to<int32_t>(s, 2);
  for (int64_t i = 0; i < c.n[0]; ++i) {
    // Without branches, since their outcome would be random. The result lies in [first, first + n]. NaN yields 0.
    const T* first = sorted;
    int64_t n = c.n[1];
    while (n > 1) {
      const int64_t half = n / 2;
      first += first[half - 1] < x[i] ? half : 0;
      n -= half;
    }
    y[i] = static_cast<int32_t>(first - sorted + (n == 1 && *first < x[i] ? 1 : 0));
  }
}

void lower_search_sorted(lowering& l) {
  l.kernel.at[0] = l.in_at(0);
  l.kernel.at[1] = l.in_at(1);
  l.kernel.at[2] = l.out_at();
  l.kernel.n[0] = l.out().dims.elements();
  l.kernel.n[1] = l.in(0).dims.elements();
  l.division = {.items = l.kernel.n[0], .step = {0, size_of(l.in(1).type), size_of(dtype::int32)}};
  l.run(l.in(0).type, search_sorted_kernel<float>, search_sorted_kernel<double>, search_sorted_kernel<int32_t>,
        search_sorted_kernel<int64_t>);
}

}  // namespace

namespace ops {
const operation search_sorted{
    .name = "search_sorted", .no_gradient = "its result is an integer", .lower = lower_search_sorted};
}  // namespace ops

symbol search_sorted(symbol sorted, symbol x, std::source_location at) {
  graph* g = common_graph("search_sorted", {sorted, x}, at);
  if (!g)
    return sorted.valid() ? x : sorted;
  const auto n = known_elements(sorted.dims());
  if (!is_number(x.type()) || sorted.type() != x.type() || sorted.rank() != 1 || !n || *n > (int64_t{1} << 30))
    return refuse(*g, "search_sorted",
                  "needs numbers of one dtype, the first of them a row of a known extent of at most 2^30, not "
                      + describe(sorted) + " and " + describe(x),
                  at);
  return append(*g, ops::search_sorted, {sorted, x}, dtype::int32, symbol_shape{x.dims()}, at);
}

}  // namespace troupe
