// Operations that give the same elements another shape.
#include "compute/operations/arrays/reduce.hpp"

namespace troupe {
namespace {

/// The product of all extents, as a coefficient and sorted unknowns. The coefficient is -1 if an extent is negative or
/// the product is too large.
std::pair<int64_t, std::vector<int32_t>> product(const symbol_shape& dims) {
  std::pair<int64_t, std::vector<int32_t>> p{1, {}};
  for (const extent& e : dims) {
    p.first = p.first < 0 || e.coefficient < 0 ? -1 : product_within_limit(p.first, e.coefficient).value_or(-1);
    if (!e.known())
      p.second.push_back(e.unknown);
  }
  std::sort(p.second.begin(), p.second.end());
  return p;
}

}  // namespace

namespace ops {

const operation reshape{.name = "reshape",
                        .gradient =
                            [](const gradient_input& in) {
                              return std::vector<symbol>{troupe::reshape(in.dy, symbol_shape{in.x[0].dims()}, in.at)};
                            },
                        .view = true};

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
    // The inferred extent is the number of elements divided by all other extents.
    *hole = extent{1};
    const auto want = product(dims);
    *hole = inferred;
    std::vector<int32_t> left;
    std::set_difference(have.second.begin(), have.second.end(), want.second.begin(), want.second.end(),
                        std::back_inserter(left));
    if (want.first <= 0 || have.first % want.first != 0 || left.size() > 1
        || left.size() + want.second.size() != have.second.size() || std::count(dims.begin(), dims.end(), inferred) > 1)
      return differ();
    *hole = left.empty() ? extent{have.first / want.first} : extent::of_unknown(left[0], have.first / want.first);
  }
  if (product(dims) != have)
    return differ();
  return append(*g, ops::reshape, {x}, x.type(), std::move(dims), at);
}

symbol expand_dims(symbol x, int axis, std::source_location at) {
  graph* g = common_graph("expand_dims", {x}, at);
  if (!g)
    return x;
  const auto a = normal_axis(axis, x.rank() + 1);
  if (!a)
    return refuse(*g, "expand_dims", "there is no place " + std::to_string(axis) + " among the axes of " + describe(x),
                  at);
  symbol_shape dims = x.dims();
  dims.insert(dims.begin() + *a, extent{1});
  return reshape(x, std::move(dims), at);
}

symbol squeeze(symbol x, std::vector<int> axes, std::source_location at) {
  graph* g = common_graph("squeeze", {x}, at);
  if (!g || axes.empty())
    return x;
  const auto all = normal_axes(axes, x.rank());
  if (!all
      || std::any_of(all->begin(), all->end(), [&](int a) { return x.dims()[static_cast<size_t>(a)] != extent{1}; }))
    return refuse(*g, "squeeze", "the axes must be distinct ones of extent 1 of " + describe(x), at);
  return reshape(x, without(x.dims(), *all, false), at);
}

}  // namespace troupe
