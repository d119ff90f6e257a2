// Operations along one axis: products, and running sums. The operand is seen as [outer, n, inner].
#include "compute/operations/arrays/reduce.hpp"

namespace troupe {
namespace {

enum extent_of { outer, along, inner };

void lower_along(lowering& l, int axis) {
  const shape& x = l.in(0).dims;
  l.kernel.n[outer] = l.kernel.n[inner] = 1;
  for (int i = 0; i < x.rank(); ++i)
    l.kernel.n[i < axis    ? outer
               : i == axis ? along
                           : inner] = i == axis ? x[i] : l.kernel.n[i < axis ? outer : inner] * x[i];
  for (int i = 0; i < static_cast<int>(l.call.in.size()); ++i)
    l.kernel.at[i] = l.in_at(i);
}

/// Divides the outer axis among threads. The output has the operand's size or, if `column_each`, one element per
/// column.
void divide_outer(lowering& l, int outputs_at, bool column_each) {
  const auto& n = l.kernel.n;
  const int64_t size = size_of(l.in(0).type), all = n[along] * n[inner] * size;
  l.division = {.items = n[outer], .extent = outer};
  for (int i = 0; i < outputs_at; ++i)
    l.division.step[static_cast<size_t>(i)] = all;
  l.division.step[static_cast<size_t>(outputs_at)] = column_each ? n[inner] * size : all;
}

/// Calls f(first element, stride, column number) for each column along the axis.
template <class F>
void for_each_column(const kernel_call& c, F f) {
  for (int64_t o = 0; o < c.n[outer]; ++o)
    for (int64_t i = 0; i < c.n[inner]; ++i)
      f(o * c.n[along] * c.n[inner] + i, c.n[inner], o * c.n[inner] + i);
}

template <class T>
T times(T a, T b) {
  return modular(a, b, [](auto x, auto y) { return x * y; });
}
template <class T>
T plus(T a, T b) {
  return modular(a, b, [](auto x, auto y) { return x + y; });
}

template <class T>
void product_kernel(const kernel_call& c, run_state& s) {
  const T* x = c.to<const T>(s, 0);
  T* y = c.to<T>(s, 1);
  for_each_column(c, [&](int64_t first, int64_t stride, int64_t column) {
    T all{1};
    for (int64_t k = 0; k < c.n[along]; ++k)
      all = times(all, x[first + k * stride]);
    y[column] = all;
  });
}

template <class T>
void product_without_kernel(const kernel_call& c, run_state& s) {
  const T* x = c.to<const T>(s, 0);
  T* y = c.to<T>(s, 1);
  for_each_column(c, [&](int64_t first, int64_t stride, int64_t) {
    T before{1}, after{1};
    for (int64_t k = 0; k < c.n[along]; ++k) {
      y[first + k * stride] = before;
      before *= x[first + k * stride];
    }
    for (int64_t k = c.n[along] - 1; k >= 0; --k) {
      y[first + k * stride] *= after;
      after *= x[first + k * stride];
    }
  });
}

/// A product of factors, and Σ over j of dy[j] · (the product without factor j).
template <class T>
struct product_and_sum {
  T product{1}, sum{0};
  void take(T x, T dy) {
    sum = sum * x + product * dy;
    product *= x;
  }
};

template <class T>
void product_without_gradient_kernel(const kernel_call& c, run_state& s) {
  const T* x = c.to<const T>(s, 0);
  const T* dy = c.to<const T>(s, 1);
  T* dx = c.to<T>(s, 2);
  T* products = c.to<T>(s, 3);
  for_each_column(c, [&](int64_t first, int64_t stride, int64_t) {
    product_and_sum<T> before, after;
    for (int64_t k = 0; k < c.n[along]; ++k) {
      const int64_t i = first + k * stride;
      products[k] = before.product;
      dx[i] = before.sum;
      before.take(x[i], dy[i]);
    }
    for (int64_t k = c.n[along] - 1; k >= 0; --k) {
      const int64_t i = first + k * stride;
      dx[i] = products[k] * after.sum + dx[i] * after.product;
      after.take(x[i], dy[i]);
    }
  });
}

/// Floating numbers are added up in float64, so that the error does not grow with their number.
template <class T>
void cumsum_kernel(const kernel_call& c, run_state& s) {
  using sum = std::conditional_t<std::is_floating_point_v<T>, double, T>;
  constexpr int64_t columns_max = 16;  // As many float32 as one cache line holds.
  const bool exclusive = (c.flags & 1) != 0, reverse = (c.flags & 2) != 0;
  for (int64_t o = 0; o < c.n[outer]; ++o)
    for (int64_t i = 0; i < c.n[inner]; i += columns_max) {
      const int64_t columns = std::min(columns_max, c.n[inner] - i), first = o * c.n[along] * c.n[inner] + i;
      sum sums[columns_max] = {};
      for (int64_t k = 0; k < c.n[along]; ++k) {
        const int64_t row = first + (reverse ? c.n[along] - 1 - k : k) * c.n[inner];
        const T* x = c.to<const T>(s, 0) + row;
        T* y = c.to<T>(s, 1) + row;
        for (int64_t j = 0; j < columns; ++j) {
          const sum before = sums[j];
          sums[j] = plus(before, static_cast<sum>(x[j]));
          y[j] = static_cast<T>(exclusive ? before : sums[j]);
        }
      }
    }
}

void lower_product(lowering& l) {
  lower_along(l, l.call.attr.axes[0]);
  l.kernel.at[1] = l.out_at();
  divide_outer(l, 1, true);
  l.run(l.in(0).type, product_kernel<float>, product_kernel<double>, product_kernel<int32_t>, product_kernel<int64_t>);
}

void lower_product_without(lowering& l) {
  lower_along(l, l.call.attr.axis);
  l.kernel.at[1] = l.out_at();
  divide_outer(l, 1, false);
  l.run(l.in(0).type, product_without_kernel<float>, product_without_kernel<double>);
}

void lower_product_without_gradient(lowering& l) {
  lower_along(l, l.call.attr.axis);
  l.kernel.at[2] = l.out_at();
  l.kernel.at[3] = l.workspace();
  divide_outer(l, 2, false);
  l.run(l.in(0).type, product_without_gradient_kernel<float>, product_without_gradient_kernel<double>);
}

int64_t workspace_of_gradient(const lowering& l) { return l.in(0).dims[l.call.attr.axis] * size_of(l.in(0).type); }

void lower_cumsum(lowering& l) {
  lower_along(l, l.call.attr.axis);
  l.kernel.at[1] = l.out_at();
  l.kernel.flags = (l.call.attr.exclusive ? 1u : 0u) | (l.call.attr.reverse ? 2u : 0u);
  divide_outer(l, 1, false);
  l.run(l.in(0).type, cumsum_kernel<float>, cumsum_kernel<double>, cumsum_kernel<int32_t>, cumsum_kernel<int64_t>);
}

using in = const gradient_input&;
using list = std::vector<symbol>;

}  // namespace

namespace ops {
const operation reduce_prod{.name = "reduce_prod",
                            .gradient =
                                [](in i) {
                                  const int axis = i.n.attr.axes[0];
                                  const symbol dy = troupe::reshape(i.dy, without(i.x[0].dims(), i.n.attr.axes, true),
                                                                    i.at);
                                  return list{troupe::mul(dy, troupe::product_without(i.x[0], axis, i.at), i.at)};
                                },
                            .lower = lower_product};
const operation product_without{
    .name = "product_without",
    .gradient = [](in i) { return list{troupe::product_without_gradient(i.x[0], i.dy, i.n.attr.axis, i.at)}; },
    .lower = lower_product_without};
const operation product_without_gradient{.name = "product_without_gradient",
                                         .no_gradient = "the third derivative of reduce_prod is not there",
                                         .lower = lower_product_without_gradient,
                                         .workspace = workspace_of_gradient};
const operation cumsum{
    .name = "cumsum",
    .gradient =
        [](in i) {
          return list{troupe::cumsum(i.dy, i.n.attr.axis, {i.n.attr.exclusive, !i.n.attr.reverse}, i.at)};
        },
    .lower = lower_cumsum};
}  // namespace ops

symbol reduce_prod(symbol x, reduce_options options, std::source_location at) {
  const auto axes = x.valid() ? normal_axes(options.axes, x.rank()) : std::nullopt;
  // Several axes are reduced one after the other, the last first. `reduce` refuses wrong axes.
  if (!axes || axes->size() < 2)
    return axes && axes->empty() ? x : reduce(ops::reduce_prod, domain::number, x, options, x.type(), at);
  for (auto axis = axes->rbegin(); axis != axes->rend(); ++axis)
    x = reduce(ops::reduce_prod, domain::number, x, {{*axis}, options.keep}, x.type(), at);
  return x;
}

symbol product_without(symbol x, int axis, std::source_location at) {
  attributes attr;
  attr.axis = axis;
  return unary(ops::product_without, domain::floating, x, at, std::move(attr));
}

symbol product_without_gradient(symbol x, symbol dy, int axis, std::source_location at) {
  if (!x.valid() || !dy.valid())
    return x.valid() ? dy : x;
  attributes attr;
  attr.axis = axis;
  return append(*x.owner(), ops::product_without_gradient, {x, dy}, x.type(), symbol_shape{x.dims()}, at,
                std::move(attr));
}

symbol cumsum(symbol x, int axis, cumsum_options options, std::source_location at) {
  const auto from_front = x.valid() ? normal_axis(axis, x.rank()) : std::nullopt;
  if (x.valid() && !from_front)
    return refuse(*x.owner(), "cumsum", "there is no axis " + std::to_string(axis) + " of " + describe(x), at);
  attributes attr;
  attr.axis = from_front.value_or(0);
  attr.exclusive = options.exclusive;
  attr.reverse = options.reverse;
  return unary(ops::cumsum, domain::number, x, at, std::move(attr));
}

}  // namespace troupe
