// Cuts along one axis, made of strided slices.
#include "compute/operations/arrays/reduce.hpp"
#include "words/text.hpp"

#include <numeric>

namespace troupe {

symbol slice(symbol x, int axis, int64_t first, int64_t count, std::source_location at) {
  graph* g = common_graph("slice", {x}, at);
  if (!g)
    return x;
  const auto a = normal_axis(axis, x.rank());
  const extent all = a ? x.dims()[static_cast<size_t>(*a)] : extent{};
  if (!a || !all.known() || first < 0 || count < 0 || first > all.coefficient - count)
    return refuse(*g, "slice",
                  "[" + std::to_string(first) + ", " + std::to_string(first + count) + ") of axis "
                      + std::to_string(axis) + " are not all elements of " + describe(x),
                  at);
  strided_slice_options cut{
      .low = std::vector<int64_t>(x.dims().size()), .high = std::vector<int64_t>(x.dims().size()), .step = {}};
  cut.low[static_cast<size_t>(*a)] = first;
  cut.high[static_cast<size_t>(*a)] = all.coefficient - first - count;
  return strided_slice(x, std::move(cut), at);
}

std::vector<symbol> split(symbol x, std::vector<int64_t> extents, int axis, std::source_location at) {
  graph* g = common_graph("split", {x}, at);
  const auto a = g ? normal_axis(axis, x.rank()) : std::nullopt;
  const bool extents_are = std::all_of(extents.begin(), extents.end(),
                                       [](int64_t e) { return e >= 0 && e <= elements_max; });
  const int64_t all = extents_are && extents.size() < (1 << 14)
                          ? std::accumulate(extents.begin(), extents.end(), int64_t{0})
                          : -1;
  if (g && (!a || x.dims()[static_cast<size_t>(*a)] != extent{all})) {
    const symbol wrong = refuse(
        *g, "split", "{" + joined(extents) + "} do not add up to axis " + std::to_string(axis) + " of " + describe(x),
        at);
    return std::vector<symbol>(extents.size(), wrong);
  }
  std::vector<symbol> parts;
  int64_t first = 0;
  for (int64_t count : extents) {
    parts.push_back(g ? slice(x, *a, first, count, at) : x);
    first += count;
  }
  return parts;
}

}  // namespace troupe
