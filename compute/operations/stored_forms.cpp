// The stored form of each operation. Most nodes are made by the public functions of operations.hpp, which check their
// operands. Operations that only gradients use trust their callers, so their operands are checked here.
#include "compute/operations/stored_forms.hpp"

#include "compute/operations/windows/windows.hpp"

#include <algorithm>

namespace troupe {
namespace {

using make = const remaking&;

template <symbol (*F)(symbol, std::source_location)>
symbol one(make r) {
  return F(r.x[0], r.at);
}
template <symbol (*F)(symbol, symbol, std::source_location)>
symbol two(make r) {
  return F(r.x[0], r.x[1], r.at);
}
template <symbol (*F)(symbol, reduce_options, std::source_location)>
symbol over_axes(make r) {
  return F(r.x[0], {r.a.axes, r.a.keep}, r.at);
}
template <symbol (*F)(symbol, int, std::source_location)>
symbol over_axis(make r) {
  return r.a.axes.size() == 1 ? F(r.x[0], r.a.axes[0], r.at) : r.refuse("it needs one axis");
}

bool alike(symbol a, symbol b) { return a.type() == b.type() && a.dims() == b.dims(); }

symbol make_select(make r) { return select(r.x[0], r.x[1], r.x[2], r.at); }
symbol make_scale(make r) { return scale_per(r.x[0], r.a.number, symbol_shape{r.a.per}, r.at); }
symbol make_clip(make r) { return clip(r.x[0], r.a.number, r.a.number2, r.at); }
symbol make_cast(make r) { return cast(r.x[0], r.type, r.at); }
symbol make_check_range(make r) { return check_range(r.x[0], r.a.number, r.a.number2, r.a.key, r.at); }
symbol make_check(make r) { return check_numerics(r.x[0], r.a.key, r.at); }
symbol make_reshape(make r) { return reshape(r.x[0], symbol_shape{r.dims}, r.at); }
symbol make_broadcast(make r) { return broadcast_to(r.x[0], symbol_shape{r.dims}, r.at); }
symbol make_transpose(make r) {
  return r.a.axes.empty() ? r.refuse("it needs axes") : transpose(r.x[0], r.a.axes, r.at);
}
symbol make_reverse(make r) { return reverse(r.x[0], r.a.axes, r.at); }
symbol make_slice(make r) { return strided_slice(r.x[0], {r.a.low, r.a.high, r.a.step}, r.at); }
symbol make_tile(make r) { return tile(r.x[0], r.a.step, r.at); }
symbol make_concat(make r) { return concat(r.x, r.a.axis, r.at); }
symbol make_gather(make r) { return gather(r.x[0], r.x[1], r.a.axis, r.at); }
symbol make_cumsum(make r) { return cumsum(r.x[0], r.a.axis, {r.a.exclusive, r.a.reverse}, r.at); }

symbol make_pad(make r) {
  auto between = r.a.step;
  for (auto& b : between)
    --b;
  return pad(r.x[0], {r.a.low, r.a.high, std::move(between), r.a.number}, r.at);
}

symbol make_one_hot(make r) {
  if (r.dims.empty() || !r.dims.back().known())
    return r.refuse("its last axis must be a number");
  return one_hot(r.x[0], r.dims.back().coefficient, r.type, r.at);
}

symbol make_matmul(make r) {
  if (r.x[0].rank() != 2 || r.x[1].rank() != 2)
    return r.refuse("it takes two matrices");
  return matmul(r.x[0], r.x[1], {r.a.transpose_a, r.a.transpose_b}, r.at);
}

symbol make_batched_matmul(make r) {
  if (r.x[0].rank() != 3 || r.x[1].rank() != 3 || r.in(0)[0] != r.in(1)[0])
    return r.refuse("it takes two operands [n, ..., ...]");
  return matmul(r.x[0], r.x[1], {r.a.transpose_a, r.a.transpose_b}, r.at);
}

symbol make_product_without(make r) {
  return r.a.axis >= 0 && r.a.axis < r.x[0].rank() ? product_without(r.x[0], r.a.axis, r.at)
                                                   : r.refuse("there is no such axis");
}

symbol make_product_without_gradient(make r) {
  if (!alike(r.x[0], r.x[1]) || !is_floating(r.x[0].type()) || r.a.axis < 0 || r.a.axis >= r.x[0].rank())
    return r.refuse("it takes an axis of two floating operands of one shape");
  return product_without_gradient(r.x[0], r.x[1], r.a.axis, r.at);
}

symbol make_normalise(make r) {
  if (!is_floating(r.x[0].type()) || r.x[0].rank() < 1)
    return r.refuse("it takes floating rows");
  return normalise_rows(r.x[0], r.a.number, r.at);
}

symbol make_normalise_gradient(make r) {
  if (!alike(r.x[0], r.x[1]) || !is_floating(r.x[0].type()) || r.x[0].rank() < 1)
    return r.refuse("it takes floating rows of one shape");
  return normalise_rows_gradient(r.x[0], r.x[1], r.a.number, r.at);
}

symbol make_scatter_add(make r) {
  const bool index = r.x[0].type() == dtype::int32 || r.x[0].type() == dtype::int64;
  if (!index || r.x[0].rank() != 1 || r.x[1].rank() != 3 || !is_number(r.x[1].type()) || r.in(1)[1] != r.in(0)[0]
      || r.dims.size() != 3)
    return r.refuse("it takes int32 or int64 indices [n] and updates [..., n, ...] of a number type");
  return scatter_add_along(r.x[0], r.x[1], r.dims[1], r.at);
}

symbol make_cross_entropy(make r) { return sparse_softmax_cross_entropy(r.x[1], r.x[0], r.at); }

symbol make_cross_entropy_gradient(make r) {
  if (r.x[2].type() != r.x[0].type() || r.x[2].rank() != 1 || r.x[0].rank() < 1 || r.in(2)[0] != r.in(0)[0])
    return r.refuse("its third operand must have a number for each row of the first");
  return cross_entropy_gradient(r.x[0], r.x[1], r.x[2], r.at);
}

symbol make_dropout(make r) {
  if (!is_floating(r.x[0].type()) || !(r.a.number >= 0 && r.a.number < 1))
    return r.refuse("it takes a floating operand and a rate in [0, 1)");
  return keyed_dropout(r.x[0], r.a.number, r.a.key, r.at);
}

// -- windows -------------------------------------------------------------------------

bool within(const windows::axis& a) {
  return std::min({a.size, a.stride, a.dilation}) >= 1 && std::max({a.size, a.stride, a.dilation}) <= window_most;
}

/// The padding with which `w` yields `pooled` on `image`; nothing if there is none.
std::optional<padding> padding_of(const windows& w, const symbol_shape& image, const symbol_shape& pooled) {
  if (!within(w.y) || !within(w.x) || image.size() != 4 || pooled.size() != 4)
    return {};
  const auto fits = [](const windows::axis& a, const extent& image_extent, const extent& count, padding p) {
    windows::axis placed = a;
    return image_extent.known() && count.known()
           && place_windows(placed, image_extent.coefficient, p) == count.coefficient && placed == a;
  };
  for (const padding p : {padding::valid, padding::same})
    if (fits(w.y, image[1], pooled[1], p) && fits(w.x, image[2], pooled[2], p))
      return p;
  return {};
}

symbol no_windows(make r) { return r.refuse("its windows do not lead from the one shape to the other"); }

bool all_known(const symbol_shape& dims) { return known_elements(dims).value_or(0) > 0; }
bool image_like(const symbol_shape& dims) {
  return dims.size() == 4
         && std::all_of(dims.begin() + 1, dims.end(), [](const extent& e) { return e.known() && e.coefficient > 0; });
}

/// Whether a convolution of `image` with `kernel` yields `y`.
bool convolves(make r, const symbol_shape& image, const symbol_shape& kernel, const symbol_shape& y) {
  const windows& w = r.a.window;
  if (!image_like(image) || !image_like(y) || kernel.size() != 4 || !all_known(kernel) || image[0] != y[0]
      || !padding_of(w, image, y))
    return false;
  const int64_t groups = w.groups, channels = image[3].coefficient, outputs = y[3].coefficient;
  return groups >= 1 && channels % groups == 0 && outputs % groups == 0 && kernel[0] == extent{w.y.size}
         && kernel[1] == extent{w.x.size} && kernel[2] == extent{channels / groups} && kernel[3] == extent{outputs};
}

symbol make_conv2d(make r) {
  const windows& w = r.a.window;
  const auto p = padding_of(w, r.in(0), r.dims);
  return p ? conv2d(r.x[0], r.x[1], {{w.y.stride, w.x.stride}, {w.y.dilation, w.x.dilation}, *p, w.groups}, r.at)
           : no_windows(r);
}

symbol make_image_gradient(make r) {
  if (r.x[0].type() != r.x[1].type() || !is_floating(r.x[0].type()) || !convolves(r, r.dims, r.in(1), r.in(0)))
    return no_windows(r);
  return conv2d_image_gradient(r.x[0], r.x[1], symbol_shape{r.dims}, r.a.window, r.at);
}

symbol make_kernel_gradient(make r) {
  if (r.x[0].type() != r.x[1].type() || !is_floating(r.x[0].type()) || !convolves(r, r.in(0), r.dims, r.in(1)))
    return no_windows(r);
  return conv2d_kernel_gradient(r.x[0], r.x[1], symbol_shape{r.dims}, r.a.window, r.at);
}

template <symbol (*F)(symbol, pool_options, std::source_location)>
symbol make_pool(make r) {
  const windows& w = r.a.window;
  const auto p = padding_of(w, r.in(0), r.dims);
  return p ? F(r.x[0], {{w.y.size, w.x.size}, {w.y.stride, w.x.stride}, *p}, r.at) : no_windows(r);
}

/// Whether pooling `image` yields `y`.
bool pools(make r, const symbol_shape& image, const symbol_shape& y) {
  const windows& w = r.a.window;
  return image_like(image) && image_like(y) && image[0] == y[0] && image[3] == y[3] && w.groups == 1
         && w.y.dilation == 1 && w.x.dilation == 1 && padding_of(w, image, y) && is_floating(r.x[0].type());
}

symbol make_pick(make r) {
  return alike(r.x[0], r.x[1]) && pools(r, r.in(0), r.dims)
             ? max_pool_pick(r.x[0], r.x[1], symbol_shape{r.dims}, r.a.window, r.at)
             : no_windows(r);
}

symbol make_max_gradient(make r) {
  return r.x[0].type() == r.x[1].type() && pools(r, r.in(0), r.in(1))
             ? max_pool_gradient(r.x[0], r.x[1], r.a.window, r.at)
             : no_windows(r);
}

symbol make_average_gradient(make r) {
  return pools(r, r.dims, r.in(0)) ? average_pool_gradient(r.x[0], symbol_shape{r.dims}, r.a.window, r.at)
                                   : no_windows(r);
}

// -- the table -----------------------------------------------------------------------

using names = std::vector<std::string_view>;

const std::vector<stored_form>& forms() {
  static const names none, reduces{"axes", "keep"}, product{"transpose_a", "transpose_b"},
      pooling{"size", "strides", "padding"}, convolution{"size", "strides", "dilation", "padding", "groups"};
  static const std::vector<stored_form> all{
      {&ops::matmul, 2, 2, product, make_matmul},
      {&ops::batched_matmul, 2, 2, product, make_batched_matmul},
      {&ops::add, 2, 2, none, two<add>},
      {&ops::sub, 2, 2, none, two<sub>},
      {&ops::mul, 2, 2, none, two<mul>},
      {&ops::div, 2, 2, none, two<div>},
      {&ops::pow, 2, 2, none, two<pow>},
      {&ops::maximum, 2, 2, none, two<maximum>},
      {&ops::minimum, 2, 2, none, two<minimum>},
      {&ops::relu_gradient, 2, 2, none, two<relu_gradient>},
      {&ops::equal, 2, 2, none, two<equal>},
      {&ops::not_equal, 2, 2, none, two<not_equal>},
      {&ops::less, 2, 2, none, two<less>},
      {&ops::less_equal, 2, 2, none, two<less_equal>},
      {&ops::greater, 2, 2, none, two<greater>},
      {&ops::greater_equal, 2, 2, none, two<greater_equal>},
      {&ops::logical_and, 2, 2, none, two<logical_and>},
      {&ops::logical_or, 2, 2, none, two<logical_or>},
      {&ops::logical_not, 1, 1, none, one<logical_not>},
      {&ops::select, 3, 3, none, make_select},
      {&ops::neg, 1, 1, none, one<neg>},
      {&ops::exp, 1, 1, none, one<exp>},
      {&ops::expm1, 1, 1, none, one<expm1>},
      {&ops::log, 1, 1, none, one<log>},
      {&ops::log1p, 1, 1, none, one<log1p>},
      {&ops::sqrt, 1, 1, none, one<sqrt>},
      {&ops::rsqrt, 1, 1, none, one<rsqrt>},
      {&ops::square, 1, 1, none, one<square>},
      {&ops::abs, 1, 1, none, one<abs>},
      {&ops::sign, 1, 1, none, one<sign>},
      {&ops::floor, 1, 1, none, one<floor>},
      {&ops::erf, 1, 1, none, one<erf>},
      {&ops::scale, 1, 1, {"number", "per"}, make_scale},
      {&ops::clip, 1, 1, {"number", "number2"}, make_clip},
      {&ops::relu, 1, 1, none, one<relu>},
      {&ops::sigmoid, 1, 1, none, one<sigmoid>},
      {&ops::softplus, 1, 1, none, one<softplus>},
      {&ops::tanh, 1, 1, none, one<tanh>},
      {&ops::gelu_tanh, 1, 1, none, one<gelu_tanh>},
      {&ops::gelu_tanh_gradient, 2, 2, none, two<gelu_tanh_gradient>},
      {&ops::cast, 1, 1, none, make_cast},
      {&ops::stop_gradient, 1, 1, none, one<stop_gradient>},
      {&ops::check_numerics, 1, 1, {"key"}, make_check},
      {&ops::check_range, 1, 1, {"number", "number2", "key"}, make_check_range},
      {&ops::reduce_sum, 1, 1, reduces, over_axes<reduce_sum>},
      {&ops::reduce_max, 1, 1, reduces, over_axes<reduce_max>},
      {&ops::reduce_min, 1, 1, reduces, over_axes<reduce_min>},
      {&ops::reduce_prod, 1, 1, reduces, over_axes<reduce_prod>},
      {&ops::product_without, 1, 1, {"axis"}, make_product_without},
      {&ops::product_without_gradient, 2, 2, {"axis"}, make_product_without_gradient},
      {&ops::argmax, 1, 1, {"axes"}, over_axis<argmax>},
      {&ops::argmin, 1, 1, {"axes"}, over_axis<argmin>},
      {&ops::cumsum, 1, 1, {"axis", "exclusive", "reverse"}, make_cumsum},
      {&ops::softmax, 1, 1, none, one<softmax>},
      {&ops::log_softmax, 1, 1, none, one<log_softmax>},
      {&ops::normalise_rows, 1, 1, {"number"}, make_normalise},
      {&ops::normalise_rows_gradient, 2, 2, {"number"}, make_normalise_gradient},
      {&ops::reshape, 1, 1, none, make_reshape},
      {&ops::broadcast_to, 1, 1, none, make_broadcast},
      {&ops::transpose, 1, 1, {"axes"}, make_transpose},
      {&ops::reverse, 1, 1, {"axes"}, make_reverse},
      {&ops::strided_slice, 1, 1, {"low", "high", "step"}, make_slice},
      {&ops::pad, 1, 1, {"low", "high", "step", "number"}, make_pad},
      {&ops::tile, 1, 1, {"step"}, make_tile},
      {&ops::concat, 2, 5, {"axis"}, make_concat},
      {&ops::gather, 2, 2, {"axis"}, make_gather},
      {&ops::search_sorted, 2, 2, {}, two<search_sorted>},
      {&ops::scatter_add, 2, 2, none, make_scatter_add},
      {&ops::one_hot, 1, 1, none, make_one_hot},
      {&ops::sparse_softmax_cross_entropy, 2, 2, none, make_cross_entropy},
      {&ops::cross_entropy_gradient, 3, 3, none, make_cross_entropy_gradient},
      {&ops::dropout, 1, 1, {"number", "key"}, make_dropout},
      {&ops::conv2d, 2, 2, convolution, make_conv2d},
      {&ops::conv2d_image_gradient, 2, 2, convolution, make_image_gradient},
      {&ops::conv2d_kernel_gradient, 2, 2, convolution, make_kernel_gradient},
      {&ops::max_pool, 1, 1, pooling, make_pool<max_pool>},
      {&ops::max_pool_pick, 2, 2, pooling, make_pick},
      {&ops::max_pool_gradient, 2, 2, pooling, make_max_gradient},
      {&ops::average_pool, 1, 1, pooling, make_pool<average_pool>},
      {&ops::average_pool_gradient, 1, 1, pooling, make_average_gradient},
  };
  return all;
}

}  // namespace

const stored_form* stored_form_of(std::string_view operation) {
  const auto& all = forms();
  const auto found = std::find_if(all.begin(), all.end(),
                                  [&](const stored_form& f) { return f.op->name == operation; });
  return found == all.end() ? nullptr : &*found;
}

}  // namespace troupe
