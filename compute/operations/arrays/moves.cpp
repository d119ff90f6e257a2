// Operations that copy or repeat elements and compute nothing. One kernel copies along a walk whose strides address the
// source elements.
#include "compute/operations/arrays/reduce.hpp"
#include "words/text.hpp"

namespace troupe {
namespace {

using in = const gradient_input&;
using list = std::vector<symbol>;

// -- kernels -------------------------------------------------------------------------

/// Transposes x [columns, rows], whose rows are `stride` apart, to y [rows, columns], in blocks that stay in the
/// first-level cache.
template <class T>
void transpose_matrix(const T* x, int64_t stride, T* y, int64_t rows, int64_t columns) {
  constexpr int64_t high = 16, wide = 64 / sizeof(T);
  for (int64_t i = 0; i < rows; i += high)
    for (int64_t j = 0; j < columns; j += wide) {
      const int64_t end_i = std::min(rows, i + high), end_j = std::min(columns, j + wide);
      for (int64_t r = i; r < end_i; ++r)
        for (int64_t q = j; q < end_j; ++q)
          y[r * columns + q] = x[q * stride + r];
    }
}

/// Fills y in order with the elements of x along the walk, which begins at element n[0] of x.
template <class T>
void read_kernel(const kernel_call& c, run_state& s) {
  const T* x0 = c.to<const T>(s, 0) + c.n[0];
  T* y0 = c.to<T>(s, 1);
  const int last = c.strides->rank - 1;
  if (last > 0 && c.strides->stride[0][last] != 1 && c.strides->stride[0][last - 1] == 1) {
    walk planes = *c.strides;  // Without the last loop: its innermost loop runs over the rows of a plane.
    planes.rank = last;
    const int64_t columns = c.strides->extent[last];
    return for_each_inner_loop(planes, [&](const inner_loop& r) {
      transpose_matrix(x0 + r.at[0], c.strides->stride[0][last], y0 + r.out * columns, r.n, columns);
    });
  }
  for_each_inner_loop(*c.strides, [&](const inner_loop& r) {
    const T* x = x0 + r.at[0];
    T* y = y0 + r.out;
    if (r.stride[0] == 1)
      std::memcpy(y, x, static_cast<size_t>(r.n) * sizeof(T));
    else
      for (int64_t i = 0; i < r.n; ++i)
        y[i] = x[i * r.stride[0]];
  });
}

/// Fills the n[1] elements of y with the value in `key`, then writes x in order along the walk, which begins at element
/// n[0] of y.
template <class T>
void write_kernel(const kernel_call& c, run_state& s) {
  const T* x0 = c.to<const T>(s, 0);
  T* y0 = c.to<T>(s, 1);
  T value;
  std::memcpy(&value, &c.key, sizeof value);
  std::fill_n(y0, c.n[1], value);
  for_each_inner_loop(*c.strides, [&](const inner_loop& r) {
    const T* x = x0 + r.out;
    T* y = y0 + c.n[0] + r.at[0];
    for (int64_t i = 0; i < r.n; ++i)
      y[i * r.stride[0]] = x[i];
  });
}

void lower_ends(lowering& l) {
  l.kernel.at[0] = l.in_at(0);
  l.kernel.at[1] = l.out_at();
}

void lower_read(lowering& l, const strides& from, int64_t first = 0) {
  lower_ends(l);
  lower_walk(l, make_walk(l.out().dims, {from}));
  l.kernel.n[0] = first;
  l.run_by_size(l.out().type, read_kernel<uint8_t>, read_kernel<uint32_t>, read_kernel<uint64_t>);
}

void lower_broadcast(lowering& l) { lower_read(l, stretched(l.out().dims, l.in(0).dims)); }

void lower_transpose(lowering& l) {
  const strides own = row_major(l.in(0).dims);
  strides from;
  for (int axis : l.call.attr.axes)
    from.push_back(own[static_cast<size_t>(axis)]);
  lower_read(l, from);
}

void lower_reverse(lowering& l) {
  strides from = row_major(l.in(0).dims);
  int64_t first = 0;
  for (int axis : l.call.attr.axes) {
    auto& stride = from[static_cast<size_t>(axis)];
    first += std::max<int64_t>(0, l.in(0).dims[axis] - 1) * stride;
    stride = -stride;
  }
  lower_read(l, from, first);
}

void lower_slice(lowering& l) {
  strides from = row_major(l.in(0).dims);
  int64_t first = 0;
  for (size_t i = 0; i < from.size(); ++i) {
    first += l.call.attr.low[i] * from[i];
    from[i] *= l.call.attr.step[i];
  }
  lower_read(l, from, first);
}

void lower_pad(lowering& l) {
  lower_ends(l);
  strides to = row_major(l.out().dims);
  for (size_t i = 0; i < to.size(); ++i) {
    l.kernel.n[0] += l.call.attr.low[i] * to[i];
    to[i] *= l.call.attr.step[i];
  }
  walk& w = l.new_walk();
  w = make_walk(l.in(0).dims, {to});
  l.kernel.strides = &w;
  l.kernel.n[1] = l.out().dims.elements();
  const auto put = [&](auto value) { std::memcpy(&l.kernel.key, &value, sizeof value); };
  const double value = l.call.attr.number;
  switch (l.out().type) {
    case dtype::float32: put(static_cast<float>(value)); break;
    case dtype::float64: put(value); break;
    case dtype::int32: put(static_cast<int32_t>(value)); break;
    case dtype::int64: put(static_cast<int64_t>(value)); break;
    case dtype::boolean: put(value != 0); break;
    case dtype::uint8: put(static_cast<uint8_t>(value)); break;
  }
  l.run_by_size(l.out().type, write_kernel<uint8_t>, write_kernel<uint32_t>, write_kernel<uint64_t>);
}

/// Tile: splits each repeated axis of the output into two, repetitions and extent; x has stride 0 along the first.
void lower_tile(lowering& l) {
  const shape& x = l.in(0).dims;
  const strides own = row_major(x);
  std::vector<int64_t> extents;
  strides from;
  for (int i = 0; i < x.rank(); ++i) {
    const auto axis = static_cast<size_t>(i);
    if (l.call.attr.step[axis] != 1) {
      extents.push_back(l.call.attr.step[axis]);
      from.push_back(0);
    }
    extents.push_back(x[i]);
    from.push_back(own[axis]);
  }
  lower_ends(l);
  lower_walk(l, make_walk(shape{std::span<const int64_t>{extents}}, {from}));
  l.run_by_size(l.out().type, read_kernel<uint8_t>, read_kernel<uint32_t>, read_kernel<uint64_t>);
}

// -- gradients -----------------------------------------------------------------------

list transpose_gradient(in i) {
  std::vector<int> back(i.n.attr.axes.size());
  for (size_t a = 0; a < back.size(); ++a)
    back[static_cast<size_t>(i.n.attr.axes[a])] = static_cast<int>(a);
  return {transpose(i.dy, back, i.at)};
}

/// A step above 1 may skip elements at the end of an axis, which `high` does not include. So the padding at the end is
/// computed from the extents.
list slice_gradient(in i) {
  pad_options to;
  const auto& x = i.x[0].dims();
  const auto& y = i.y.dims();
  for (size_t a = 0; a < x.size(); ++a) {
    const int64_t low = i.n.attr.low[a], step = i.n.attr.step[a];
    int64_t high = i.n.attr.high[a];
    if (x[a].known())
      high = x[a].coefficient - low - (y[a].coefficient > 0 ? (y[a].coefficient - 1) * step + 1 : 0);
    to.low.push_back(low);
    to.high.push_back(high);
    to.between.push_back(step - 1);
  }
  return {pad(i.dy, std::move(to), i.at)};
}

list pad_gradient(in i) { return {strided_slice(i.dy, {i.n.attr.low, i.n.attr.high, i.n.attr.step}, i.at)}; }

/// Sums over the repetitions, after a reshape has made an axis of each.
list tile_gradient(in i) {
  symbol_shape apart;
  reduce_options over;
  const auto& x = i.x[0].dims();
  for (size_t a = 0; a < x.size(); ++a) {
    if (i.n.attr.step[a] != 1) {
      over.axes.push_back(static_cast<int>(apart.size()));
      apart.push_back(extent{i.n.attr.step[a]});
    }
    apart.push_back(x[a]);
  }
  return {over.axes.empty() ? i.dy : reduce_sum(reshape(i.dy, std::move(apart), i.at), over, i.at)};
}

// -- shapes --------------------------------------------------------------------------

std::string list_of(const std::vector<int64_t>& x) { return "{" + joined(x) + "}"; }

/// Fills an empty list with `rank` copies of `value`. False if the list has another length, or an element below `least`
/// or above `elements_max`.
bool complete(std::vector<int64_t>& x, int rank, int64_t value, int64_t least) {
  if (x.empty())
    x.assign(static_cast<size_t>(rank), value);
  return x.size() == static_cast<size_t>(rank)
         && std::all_of(x.begin(), x.end(), [&](int64_t v) { return v >= least && v <= elements_max; });
}

}  // namespace

namespace ops {
const operation broadcast_to{.name = "broadcast_to",
                             .gradient = [](in i) { return list{sum_to(i.dy, i.x[0].dims(), i.at)}; },
                             .lower = lower_broadcast};
const operation transpose{.name = "transpose", .gradient = transpose_gradient, .lower = lower_transpose};
const operation reverse{.name = "reverse",
                        .gradient = [](in i) { return list{troupe::reverse(i.dy, i.n.attr.axes, i.at)}; },
                        .lower = lower_reverse};
const operation strided_slice{.name = "strided_slice", .gradient = slice_gradient, .lower = lower_slice};
const operation pad{.name = "pad", .gradient = pad_gradient, .lower = lower_pad};
const operation tile{.name = "tile", .gradient = tile_gradient, .lower = lower_tile};
}  // namespace ops

symbol broadcast_to(symbol x, symbol_shape dims, std::source_location at) {
  graph* g = common_graph("broadcast_to", {x}, at);
  if (!g || x.dims() == dims)
    return x;
  if (broadcast(x.dims(), dims) != dims)
    return refuse(*g, "broadcast_to", to_string(*g, x.dims()) + " does not stretch to " + to_string(*g, dims), at);
  return append(*g, ops::broadcast_to, {x}, x.type(), std::move(dims), at);
}

symbol transpose(symbol x, std::vector<int> order, std::source_location at) {
  graph* g = common_graph("transpose", {x}, at);
  if (!g)
    return x;
  if (order.empty())
    for (int axis = x.rank() - 1; axis >= 0; --axis)
      order.push_back(axis);
  attributes attr;
  for (int axis : order)
    if (const auto a = normal_axis(axis, x.rank());
        a && std::find(attr.axes.begin(), attr.axes.end(), *a) == attr.axes.end())
      attr.axes.push_back(*a);
  if (attr.axes.size() != order.size() || order.size() != x.dims().size())
    return refuse(*g, "transpose",
                  list_of({order.begin(), order.end()}) + " is not an order of the axes of " + describe(x), at);
  // A transpose of a transpose becomes one transpose, or none.
  if (const node& n = contents_of(*g).nodes[static_cast<size_t>(x.node())]; n.op == &ops::transpose) {
    for (int& axis : attr.axes)
      axis = n.attr.axes[static_cast<size_t>(axis)];
    x = symbol_of(*g, n.inputs[0]);
  }
  if (std::is_sorted(attr.axes.begin(), attr.axes.end()))
    return x;
  symbol_shape dims;
  for (int axis : attr.axes)
    dims.push_back(x.dims()[static_cast<size_t>(axis)]);
  return append(*g, ops::transpose, {x}, x.type(), std::move(dims), at, std::move(attr));
}

symbol reverse(symbol x, std::vector<int> axes, std::source_location at) {
  graph* g = common_graph("reverse", {x}, at);
  if (!g)
    return x;
  const auto all = axes.empty() ? std::optional{axes} : normal_axes(axes, x.rank());
  if (!all)
    return refuse(*g, "reverse", list_of({axes.begin(), axes.end()}) + " are not distinct axes of " + describe(x), at);
  attributes attr;
  attr.axes = *all;
  return append(*g, ops::reverse, {x}, x.type(), symbol_shape{x.dims()}, at, std::move(attr));
}

symbol strided_slice(symbol x, strided_slice_options options, std::source_location at) {
  graph* g = common_graph("strided_slice", {x}, at);
  if (!g)
    return x;
  const int rank = x.rank();
  const auto differ = [&](const std::string& why) {
    return refuse(*g, "strided_slice", why + " does not fit " + describe(x), at);
  };
  if (!complete(options.low, rank, 0, 0))
    return differ("low " + list_of(options.low));
  if (!complete(options.high, rank, 0, 0))
    return differ("high " + list_of(options.high));
  if (!complete(options.step, rank, 1, 1))
    return differ("step " + list_of(options.step));
  symbol_shape dims;
  for (size_t i = 0; i < x.dims().size(); ++i) {
    const extent& e = x.dims()[i];
    const int64_t low = options.low[i], high = options.high[i], step = options.step[i];
    if (low == 0 && high == 0 && step == 1) {
      dims.push_back(e);
      continue;
    }
    if (!e.known())
      return refuse(*g, "strided_slice",
                    "axis " + std::to_string(i) + " of " + describe(x) + " has no known extent to cut", at);
    const int64_t left = e.coefficient - low - high;
    if (left < 0)
      return refuse(*g, "strided_slice",
                    "low " + std::to_string(low) + " and high " + std::to_string(high)
                        + " are more than there is along axis " + std::to_string(i) + " of " + describe(x),
                    at);
    dims.push_back(extent{(left + step - 1) / step});
  }
  attributes attr;
  attr.low = std::move(options.low);
  attr.high = std::move(options.high);
  attr.step = std::move(options.step);
  return append(*g, ops::strided_slice, {x}, x.type(), std::move(dims), at, std::move(attr));
}

symbol pad(symbol x, pad_options options, std::source_location at) {
  graph* g = common_graph("pad", {x}, at);
  if (!g)
    return x;
  const int rank = x.rank();
  const auto differ = [&](const std::string& why) {
    return refuse(*g, "pad", why + " does not fit " + describe(x), at);
  };
  if (!complete(options.low, rank, 0, 0))
    return differ("low " + list_of(options.low));
  if (!complete(options.high, rank, 0, 0))
    return differ("high " + list_of(options.high));
  if (!complete(options.between, rank, 0, 0))
    return differ("between " + list_of(options.between));
  symbol_shape dims;
  attributes attr;
  for (size_t i = 0; i < x.dims().size(); ++i) {
    const extent& e = x.dims()[i];
    const int64_t low = options.low[i], high = options.high[i], between = options.between[i];
    attr.step.push_back(between + 1);
    if (low == 0 && high == 0 && between == 0)
      dims.push_back(e);
    else if (!e.known())
      return refuse(*g, "pad", "axis " + std::to_string(i) + " of " + describe(x) + " has no known extent", at);
    else if (const auto gaps = product_within_limit(std::max<int64_t>(0, e.coefficient - 1), between))
      dims.push_back(extent{low + high + e.coefficient + *gaps});
    else
      return differ("between " + list_of(options.between));
  }
  attr.low = std::move(options.low);
  attr.high = std::move(options.high);
  attr.number = options.value;
  return append(*g, ops::pad, {x}, x.type(), std::move(dims), at, std::move(attr));
}

symbol tile(symbol x, std::vector<int64_t> times, std::source_location at) {
  graph* g = common_graph("tile", {x}, at);
  if (!g)
    return x;
  if (times.size() != x.dims().size() || std::any_of(times.begin(), times.end(), [](int64_t t) { return t < 1; })
      || x.rank() + std::count_if(times.begin(), times.end(), [](int64_t t) { return t > 1; }) > shape::max_rank)
    return refuse(*g, "tile",
                  "times " + list_of(times) + " does not fit " + describe(x)
                      + ": one number of at least 1 for each axis, 8 axes with what is repeated",
                  at);
  symbol_shape dims = x.dims();
  for (size_t i = 0; i < dims.size(); ++i)
    // Too large: refused later, with the whole shape.
    dims[i].coefficient = product_within_limit(dims[i].coefficient, times[i]).value_or(elements_max + 1);
  attributes attr;
  attr.step = std::move(times);
  return append(*g, ops::tile, {x}, x.type(), std::move(dims), at, std::move(attr));
}

}  // namespace troupe
