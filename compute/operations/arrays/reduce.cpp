// Reductions. The shape alone fixes the order of additions, so bits depend on neither addresses nor threads.
#include "compute/operations/arrays/reduce.hpp"

#include "compute/kernels/simd.hpp"
#include "compute/kernels/sums.hpp"
#include "compute/operations/elementwise/elementwise.hpp"
#include "words/text.hpp"

#include <limits>

namespace troupe {

std::optional<std::vector<int>> normal_axes(const std::vector<int>& axes, int rank) {
  std::vector<int> all;
  for (int axis : axes)
    all.push_back(axis < 0 ? axis + rank : axis);
  for (int i = 0; axes.empty() && i < rank; ++i)
    all.push_back(i);
  std::sort(all.begin(), all.end());
  if (std::adjacent_find(all.begin(), all.end()) != all.end()
      || (!all.empty() && (all.front() < 0 || all.back() >= rank)))
    return {};
  return all;
}

symbol_shape without(const symbol_shape& dims, const std::vector<int>& axes, bool keep) {
  symbol_shape out;
  for (size_t i = 0; i < dims.size(); ++i)
    if (std::find(axes.begin(), axes.end(), static_cast<int>(i)) == axes.end())
      out.push_back(dims[i]);
    else if (keep)
      out.push_back(extent{1});
  return out;
}

symbol reduce(const operation& op, domain of, symbol x, const reduce_options& options, dtype type,
              std::source_location at) {
  graph* g = common_graph(op.name, {x}, at);
  if (!g)
    return x;
  if (!is_in(of, x.type()))
    return refuse(*g, op.name, "no such operation on " + describe(x), at);
  attributes attr;
  auto axes = normal_axes(options.axes, x.rank());
  if (!axes)
    return refuse(*g, op.name,
                  "axes {" + joined(options.axes) + "} are not distinct axes of " + to_string(*g, x.dims()), at);
  attr.axes = std::move(*axes);
  attr.keep = options.keep;
  auto dims = without(x.dims(), attr.axes, options.keep);
  return append(*g, op, {x}, type, std::move(dims), at, std::move(attr));
}

namespace {

// If the reduced axes are adjacent, the operand is seen as [outer, reduced, inner].
enum extent_of { outer, reduced, inner, row_stride };

/// The sum of n contiguous elements.
template <class T>
double sum_of(const T* x, int64_t n) {
  return simd::sum<T>(n, [x](int64_t i, int64_t count) { return simd::load_some(x + i, count); });
}

template <class T>
void sum_rows_kernel(const kernel_call& c, run_state& s) {
  const T* x = c.to<const T>(s, 0);
  T* y = c.to<T>(s, 1);
  for (int64_t i = 0; i < c.n[outer]; ++i)
    y[i] = static_cast<T>(c.number * sum_of(x + i * c.n[reduced], c.n[reduced]) / c.number2);
}

template <class T>
void sum_columns_kernel(const kernel_call& c, run_state& s) {
  const int64_t rows = c.n[reduced], stride = c.n[row_stride];
  for (int64_t o = 0; o < c.n[outer]; ++o)
    sum_columns(c.to<const T>(s, 0) + o * rows * stride, rows, c.n[inner], stride, c.to<T>(s, 1) + o * stride,
                {c.number, c.number2});
}

/// Reduces any axes and dtypes: folds each element, in the operand's order, into its output element.
template <class T, class F>
void fold_walk(const kernel_call& c, run_state& s, T start, F f) {
  const T* x = c.to<const T>(s, 0);
  T* y = c.to<T>(s, 1);
  std::fill(y, y + c.n[outer], start);
  for_each_inner_loop(*c.strides, [&](const inner_loop& r) {
    const T* from = x + r.out;
    T* to = y + r.at[0];
    if (r.stride[0] == 0) {
      T all = *to;
      for (int64_t i = 0; i < r.n; ++i)
        all = f(all, from[i]);
      if (r.n > 0)
        *to = all;
    } else {
#pragma GCC ivdep
      for (int64_t i = 0; i < r.n; ++i)
        to[i] = f(to[i], from[i]);
    }
  });
}

/// Sums over axes that are not adjacent. Each output element is accumulated in float64; contiguous terms are summed by
/// `sum_of`.
template <class T>
void sum_any_kernel(const kernel_call& c, run_state& s) {
  const T* x = c.to<const T>(s, 0);
  T* y = c.to<T>(s, 1);
  double* sums = nullptr;
  if constexpr (std::is_same_v<T, double>)
    sums = y;
  else
    sums = c.to<double>(s, 2);
  std::fill_n(sums, c.n[outer], 0.0);
  for_each_inner_loop(*c.strides, [&](const inner_loop& r) {
    const T* from = x + r.out;
    double* to = sums + r.at[0];
    if (r.stride[0] == 0)
      *to += sum_of(from, r.n);
    else
      for (int64_t i = 0; i < r.n; ++i)
        to[i] += static_cast<double>(from[i]);
  });
  for (int64_t i = 0; i < c.n[outer]; ++i)
    y[i] = static_cast<T>(c.number * sums[i] / c.number2);
}

template <class T>
void sum_integers_kernel(const kernel_call& c, run_state& s) {
  fold_walk(c, s, T{0}, [](T a, T b) { return modular(a, b, [](auto u, auto v) { return u + v; }); });
}

template <class T>
constexpr T infinity = std::is_floating_point_v<T> ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::max();

template <class T>
void max_kernel(const kernel_call& c, run_state& s) {
  const T start = std::is_floating_point_v<T> ? -infinity<T> : std::numeric_limits<T>::min();
  fold_walk(c, s, start, [](T best, T v) { return v > best || v != v ? v : best; });  // A NaN wins, and stays.
}

template <class T>
void min_kernel(const kernel_call& c, run_state& s) {
  fold_walk(c, s, infinity<T>, [](T best, T v) { return v < best || v != v ? v : best; });
}

/// The index of the extreme; of equal ones, the first. NaN is more extreme than any number.
template <class T, bool Least>
void argmax_kernel(const kernel_call& c, run_state& s) {
  const T* x = c.to<const T>(s, 0);
  int64_t* y = c.to<int64_t>(s, 1);
  for (int64_t o = 0; o < c.n[outer]; ++o)
    for (int64_t i = 0; i < c.n[inner]; ++i) {
      const T* column = x + o * c.n[reduced] * c.n[inner] + i;
      int64_t best = 0;
      for (int64_t r = 1; r < c.n[reduced]; ++r) {
        const T v = column[r * c.n[inner]], b = column[best * c.n[inner]];
        if ((Least ? v < b : v > b) || (v != v && b == b))
          best = r;
      }
      y[o * c.n[inner] + i] = best;
    }
}

void lower_ends(lowering& l) {
  l.kernel.at[0] = l.in_at(0);
  l.kernel.at[1] = l.out_at();
  l.kernel.number = l.call.factor;
  l.kernel.number2 = l.call.divisor;
}

/// Sets `n` to the extents before, of and after the reduced axes; false if these are not adjacent.
bool three_parts(const shape& x, const std::vector<int>& axes, int64_t (&n)[7]) {
  n[outer] = n[reduced] = n[inner] = 1;
  for (int i = 0; i < x.rank(); ++i) {
    const bool is_reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
    if (is_reduced && i > axes.front() && std::find(axes.begin(), axes.end(), i - 1) == axes.end())
      return false;
    n[is_reduced ? reduced : axes.empty() || i < axes.front() ? outer : inner] *= x[i];
  }
  return true;
}

/// Makes a walk over the operand, whose strides address the output element.
void lower_walk(lowering& l) {
  const shape& x = l.in(0).dims;
  std::vector<int64_t> kept(x.extents().begin(), x.extents().end());
  for (int axis : l.call.attr.axes)
    kept[static_cast<size_t>(axis)] = 1;
  walk& w = l.new_walk();
  w = make_walk(x, {stretched(x, shape{std::span<const int64_t>{kept}})});
  l.kernel.strides = &w;
  l.kernel.n[outer] = l.out().dims.elements();
}

void divide_outer(lowering& l) {
  const auto& n = l.kernel.n;
  l.division = {.items = n[outer],
                .extent = outer,
                .step = {n[reduced] * n[inner] * size_of(l.in(0).type), n[inner] * size_of(l.out().type)}};
}

void lower_sum(lowering& l) {
  lower_ends(l);
  if (!is_floating(l.in(0).type) || !three_parts(l.in(0).dims, l.call.attr.axes, l.kernel.n)) {
    lower_walk(l);
    l.kernel.at[2] = l.workspace();
    l.run(l.in(0).type, sum_any_kernel<float>, sum_any_kernel<double>, sum_integers_kernel<int32_t>,
          sum_integers_kernel<int64_t>);
  } else if (l.kernel.n[inner] == 1) {
    divide_outer(l);
    l.run(l.in(0).type, sum_rows_kernel<float>, sum_rows_kernel<double>);
  } else {
    l.kernel.n[row_stride] = l.kernel.n[inner];
    if (l.kernel.n[outer] >= l.call.shares)
      divide_outer(l);
    else if (l.kernel.n[outer] == 1)
      l.division = {.items = l.kernel.n[inner],
                    .unit = 64 / size_of(l.in(0).type),
                    .extent = inner,
                    .step = {size_of(l.in(0).type), size_of(l.in(0).type)}};
    l.run(l.in(0).type, sum_columns_kernel<float>, sum_columns_kernel<double>);
  }
}

/// For float32 over axes that are not adjacent: a float64 for each element of the output.
int64_t workspace_of_sum(const lowering& l) {
  int64_t n[7];
  return l.in(0).type == dtype::float32 && !three_parts(l.in(0).dims, l.call.attr.axes, n)
             ? l.out().dims.elements() * static_cast<int64_t>(sizeof(double))
             : 0;
}

void lower_max(lowering& l) {
  lower_ends(l);
  lower_walk(l);
  l.run(l.in(0).type, max_kernel<float>, max_kernel<double>, max_kernel<int32_t>, max_kernel<int64_t>);
}

void lower_min(lowering& l) {
  lower_ends(l);
  lower_walk(l);
  l.run(l.in(0).type, min_kernel<float>, min_kernel<double>, min_kernel<int32_t>, min_kernel<int64_t>);
}

template <bool Least>
void lower_argmax(lowering& l) {
  lower_ends(l);
  three_parts(l.in(0).dims, l.call.attr.axes, l.kernel.n);
  divide_outer(l);
  l.run(l.in(0).type, argmax_kernel<float, Least>, argmax_kernel<double, Least>, argmax_kernel<int32_t, Least>,
        argmax_kernel<int64_t, Least>);
}

/// Broadcasts y, which lacks the reduced axes, to x's shape.
symbol stretch(const gradient_input& in, symbol y) {
  const auto& dims = in.x[0].dims();
  return broadcast_to(reshape(y, without(dims, in.n.attr.axes, true), in.at), symbol_shape{dims}, in.at);
}

/// Divides dy equally among the elements that equal the result.
std::vector<symbol> extreme_gradient(const gradient_input& in) {
  const symbol chosen = stop_gradient(cast(equal(in.x[0], stretch(in, in.y), in.at), in.n.type, in.at), in.at);
  const symbol ties = reduce_sum(chosen, {in.n.attr.axes, in.n.attr.keep}, in.at);
  return {mul(chosen, stretch(in, div(in.dy, ties, in.at)), in.at)};
}

constexpr std::string_view is_index = "its value is an index";

}  // namespace

namespace ops {
const operation reduce_sum{.name = "reduce_sum",
                           .gradient = [](const gradient_input& in) { return std::vector<symbol>{stretch(in, in.dy)}; },
                           .lower = lower_sum,
                           .workspace = workspace_of_sum};
const operation reduce_max{.name = "reduce_max", .gradient = extreme_gradient, .lower = lower_max};
const operation reduce_min{.name = "reduce_min", .gradient = extreme_gradient, .lower = lower_min};
const operation argmax{.name = "argmax", .no_gradient = is_index, .lower = lower_argmax<false>};
const operation argmin{.name = "argmin", .no_gradient = is_index, .lower = lower_argmax<true>};
}  // namespace ops

symbol reduce_sum(symbol x, reduce_options options, std::source_location at) {
  return reduce(ops::reduce_sum, domain::number, x, options, x.type(), at);
}
symbol reduce_max(symbol x, reduce_options options, std::source_location at) {
  return reduce(ops::reduce_max, domain::number, x, options, x.type(), at);
}
symbol reduce_min(symbol x, reduce_options options, std::source_location at) {
  return reduce(ops::reduce_min, domain::number, x, options, x.type(), at);
}

symbol reduce_logsumexp(symbol x, reduce_options options, std::source_location at) {
  const symbol most = stop_gradient(reduce_max(x, {options.axes, true}, at), at);
  if (!most.valid() || !is_floating(x.type()))
    return most.valid() ? refuse(*x.owner(), "reduce_logsumexp", "no such operation on " + describe(x), at) : most;
  graph& g = *x.owner();
  const auto scope = g.scope("reduce_logsumexp");
  // An infinite maximum is not subtracted: ∞ - ∞ would be NaN.
  const symbol finite = less(abs(most, at), fill(g, std::numeric_limits<double>::infinity(), x.type(), {}, at), at);
  const symbol shift = select(finite, most, fill(g, 0, x.type(), {}, at), at);
  const symbol y = add(log(reduce_sum(exp(sub(x, shift, at), at), {options.axes, true}, at), at), shift, at);
  return reshape(y, without(x.dims(), *normal_axes(options.axes, x.rank()), options.keep), at);
}

symbol reduce_mean(symbol x, reduce_options options, std::source_location at) {
  const symbol sum = reduce(ops::reduce_sum, domain::floating, x, options, x.type(), at);
  if (!sum.valid())
    return sum;
  symbol_shape per;
  const auto axes = *normal_axes(options.axes, x.rank());
  for (int axis : axes)
    per.push_back(x.dims()[static_cast<size_t>(axis)]);
  // Divides instead of multiplying by 1/n, so that the mean of equal numbers is that number.
  return scale_per(sum, 1, std::move(per), at);
}

symbol argmax(symbol x, int axis, std::source_location at) {
  return reduce(ops::argmax, domain::number, x, {{axis}}, dtype::int64, at);
}
symbol argmin(symbol x, int axis, std::source_location at) {
  return reduce(ops::argmin, domain::number, x, {{axis}}, dtype::int64, at);
}

symbol sum_to(symbol x, const symbol_shape& dims, std::source_location at) {
  if (!x.valid() || x.dims() == dims)
    return x;
  reduce_options over;
  const size_t lead = x.dims().size() - dims.size();
  for (size_t i = 0; i < x.dims().size(); ++i)
    if (i < lead || (dims[i - lead] == extent{1} && x.dims()[i] != extent{1}))
      over.axes.push_back(static_cast<int>(i));
  return reshape(reduce_sum(x, over, at), symbol_shape{dims}, at);
}

}  // namespace troupe
