// Convolution, its gradient for the image, and its gradient for the kernel.
//
// The three operations are each other's gradients: y = x * k is linear in both operands, and each of y, dx and dk is
// the product of the other two under the same windows. Kernels of one element are matrix products.
#include "compute/kernels/convolution.hpp"

#include "compute/operations/lowering.hpp"
#include "compute/operations/windows/windows.hpp"

#include <algorithm>

namespace troupe {
namespace {

enum at { image_at, kernel_at, output_at, workspace_at, bias_at };
enum extent_of { images, outputs, groups };  ///< Extents of a convolution.
/// Extents of a matrix product. The last three are row strides as stored.
enum product_extent_of { rows, columns, depth, row_a = 4, row_b, row_c };

/// The extents that all three operations share, whichever of them are operands.
struct geometry {
  int64_t batch, height, width, channels;  ///< Extents of x.
  int64_t rows, columns, outputs;          ///< Extents of y.
  windows w;
  int64_t taps() const { return w.y.size * w.x.size; }
  int64_t group_channels() const { return channels / w.groups; }
  int64_t group_outputs() const { return outputs / w.groups; }
  int64_t flops() const { return 2 * batch * rows * columns * outputs * taps() * group_channels(); }
  bool depthwise() const { return w.groups > 1 && w.groups == channels; }
  /// Whether every window is one pixel, and every pixel one window.
  bool pixel_by_pixel() const { return taps() == 1 && w.groups == 1 && w.y.stride == 1 && w.x.stride == 1; }
};

geometry geometry_of(const shape& x, const shape& y, const windows& w) {
  return {x[0], x[1], x[2], x[3], y[1], y[2], y[3], w};
}
geometry forward_geometry(const lowering& l) { return geometry_of(l.in(0).dims, l.out().dims, l.call.attr.window); }
geometry kernel_geometry(const lowering& l) { return geometry_of(l.in(0).dims, l.in(1).dims, l.call.attr.window); }
geometry image_geometry(const lowering& l) { return geometry_of(l.out().dims, l.in(0).dims, l.call.attr.window); }

/// The convolution of one group; the other groups lie beside it in the innermost axis.
convolution forward_of(const geometry& g) {
  const auto axis = [](const windows::axis& a) { return image_windows::axis{a.size, a.stride, a.dilation, a.pad, 1}; };
  return {{g.height, g.width, g.group_channels(), g.channels, g.rows, g.columns, axis(g.w.y), axis(g.w.x)},
          g.batch,
          g.group_outputs(),
          g.outputs,
          g.outputs,
          false};
}

/// The transposed convolution: a pixel's gradient sums over the windows that contain it, each with a different element
/// of the kernel.
convolution backward_of(const geometry& g) {
  const auto axis = [](const windows::axis& a) {
    return image_windows::axis{a.size, 1, a.dilation, (a.size - 1) * a.dilation - a.pad, a.stride};
  };
  return {{g.rows, g.columns, g.group_outputs(), g.outputs, g.height, g.width, axis(g.w.y), axis(g.w.x)},
          g.batch,
          g.group_channels(),
          g.channels,
          g.outputs,
          true};
}

gemm_shape forward_product(const geometry& g) { return {g.batch * g.rows * g.columns, g.outputs, g.channels}; }
gemm_shape backward_product(const geometry& g) {
  return {g.batch * g.rows * g.columns, g.channels, g.outputs, false, true};
}
gemm_shape kernel_product(const geometry& g) { return {g.channels, g.outputs, g.batch * g.rows * g.columns, true}; }

/// The share of the convolution that a call computes.
convolution share_of(const kernel_call& c) {
  convolution g = *c.convolution;
  g.images = c.n[images];
  g.outputs = c.n[outputs];
  return g;
}

template <class T>
void convolve_kernel(const kernel_call& c, run_state& s) {
  const convolution g = share_of(c);
  const T* bias = c.maybe<const T>(s, bias_at);
  for (int64_t i = 0; i < c.n[groups]; ++i)
    convolve<T>(g, c.to<const T>(s, image_at) + i * g.windows.channels,
                c.to<const T>(s, kernel_at) + i * (g.turned ? g.windows.channels : g.outputs),
                bias ? bias + i * g.outputs : nullptr, c.to<T>(s, output_at) + i * g.outputs,
                c.maybe<std::byte>(s, workspace_at));
}

template <class T>
void kernel_gradient_kernel(const kernel_call& c, run_state& s) {
  const convolution g = share_of(c);
  for (int64_t i = 0; i < c.n[groups]; ++i)
    convolve_kernel_gradient<T>(g, c.to<const T>(s, image_at) + i * g.windows.channels,
                                c.to<const T>(s, kernel_at) + i * g.outputs, c.to<T>(s, output_at) + i * g.outputs,
                                c.maybe<std::byte>(s, workspace_at));
}

template <class T>
void depthwise_kernel(const kernel_call& c, run_state& s) {
  convolve_depthwise<T>(share_of(c), c.n[groups], c.to<const T>(s, image_at), c.to<const T>(s, kernel_at),
                        c.to<T>(s, output_at));
}

template <class T>
void depthwise_gradient_kernel(const kernel_call& c, run_state& s) {
  depthwise_kernel_gradient<T>(share_of(c), c.n[groups], c.to<const T>(s, image_at), c.to<const T>(s, kernel_at),
                               c.to<T>(s, output_at));
}

/// A kernel of one element as a matrix product.
template <class T>
void product_kernel(const kernel_call& c, run_state& s) {
  gemm<T>({c.n[rows], c.n[columns], c.n[depth], (c.flags & 1) != 0, (c.flags & 2) != 0},
          {.a = c.to<const T>(s, image_at),
           .b = c.to<const T>(s, kernel_at),
           .c = c.to<T>(s, output_at),
           .bias = c.maybe<const T>(s, bias_at),
           .relu = (c.flags & 4) != 0,
           .lda = c.n[row_a],
           .ldb = c.n[row_b],
           .ldc = c.n[row_c]},
          c.maybe<std::byte>(s, workspace_at));
}

void lower_operands(lowering& l) {
  auto& k = l.kernel;
  k.at[image_at] = l.in_at(0);
  k.at[kernel_at] = l.in_at(1);
  k.at[output_at] = l.out_at();
  k.at[workspace_at] = l.workspace();
  if (l.call.bias >= 0)
    k.at[bias_at] = l.in_at(l.call.bias);
}

/// Divides the call by images, each of which is `each` units of n[extent].
void divide_images(lowering& l, int extent, int64_t each) {
  const auto bytes_of = [](const planned_value& v) { return v.dims.inner().elements() * size_of(v.type); };
  l.division = {
      .items = l.out().dims[0], .extent = extent, .each = each, .step = {bytes_of(l.in(0)), 0, bytes_of(l.out())}};
}

/// Divides the call by outputs, at whole vectors.
void divide_outputs(lowering& l, int extent, int64_t count) {
  const int64_t size = size_of(l.out().type);
  l.division = {.items = count, .unit = 64 / size, .extent = extent, .step = {0, size, size}};
}

void lower_product(lowering& l, const gemm_shape& s) {
  lower_operands(l);
  auto& n = l.kernel.n;
  n[rows] = s.m;
  n[columns] = s.n;
  n[depth] = s.k;
  n[row_a] = s.transpose_a ? s.m : s.k;
  n[row_b] = s.transpose_b ? s.k : s.n;
  n[row_c] = s.n;
  l.kernel.flags = (s.transpose_a ? 1u : 0u) | (s.transpose_b ? 2u : 0u) | (l.call.relu ? 4u : 0u);
  l.run(l.out().type, product_kernel<float>, product_kernel<double>);
}

void lower_groups(lowering& l, const geometry& g, const convolution& one) {
  lower_operands(l);
  auto& kept = l.new_convolution();
  kept = one;
  kept.relu = l.call.relu;
  l.kernel.convolution = &kept;
  l.kernel.n[images] = one.images;
  l.kernel.n[outputs] = one.outputs;
  l.kernel.n[groups] = g.w.groups;
}

/// The convolution, or its gradient for the image.
void lower_images(lowering& l, const geometry& g, const gemm_shape& product, const convolution& one) {
  if (g.pixel_by_pixel()) {
    lower_product(l, product);
    return divide_images(l, rows, g.rows * g.columns);
  }
  lower_groups(l, g, one);
  divide_images(l, images, 1);
  if (g.depthwise())
    l.run(l.out().type, depthwise_kernel<float>, depthwise_kernel<double>);
  else
    l.run(l.out().type, convolve_kernel<float>, convolve_kernel<double>);
}

void lower_conv2d(lowering& l) {
  const geometry g = forward_geometry(l);
  lower_images(l, g, forward_product(g), forward_of(g));
}

void lower_image_gradient(lowering& l) {
  const geometry g = image_geometry(l);
  lower_images(l, g, backward_product(g), backward_of(g));
}

void lower_kernel_gradient(lowering& l) {
  const geometry g = kernel_geometry(l);
  const int64_t size = size_of(l.out().type), share = g.group_outputs() * size;
  if (g.pixel_by_pixel()) {
    lower_product(l, kernel_product(g));
    return divide_outputs(l, columns, g.outputs);
  }
  lower_groups(l, g, forward_of(g));
  if (g.depthwise()) {
    l.division = {.items = g.channels, .unit = 64 / size, .extent = groups, .step = {size, share, share}};
    return l.run(l.out().type, depthwise_gradient_kernel<float>, depthwise_gradient_kernel<double>);
  }
  if (g.w.groups == 1)
    divide_outputs(l, outputs, g.outputs);
  else
    l.division = {.items = g.w.groups, .extent = groups, .step = {g.group_channels() * size, share, share}};
  l.run(l.out().type, kernel_gradient_kernel<float>, kernel_gradient_kernel<double>);
}

/// Bytes of workspace for one group: `of(is float64)`, the need of a matrix product that replaces it, or 0 if
/// depthwise.
template <class F>
int64_t workspace_of(const lowering& l, const geometry& g, const gemm_shape& product, F of) {
  if (g.depthwise())
    return 0;
  if (g.pixel_by_pixel())
    return l.out().type == dtype::float64 ? gemm_workspace<double>(product) : gemm_workspace<float>(product);
  return of(l.out().type == dtype::float64);
}

int64_t bytes_to_convolve(const convolution& one, bool wide) {
  return wide ? convolve_workspace<double>(one) : convolve_workspace<float>(one);
}

int64_t workspace_forward(const lowering& l) {
  const geometry g = forward_geometry(l);
  return workspace_of(l, g, forward_product(g), [&](bool wide) { return bytes_to_convolve(forward_of(g), wide); });
}
int64_t workspace_image(const lowering& l) {
  const geometry g = image_geometry(l);
  return workspace_of(l, g, backward_product(g), [&](bool wide) { return bytes_to_convolve(backward_of(g), wide); });
}
int64_t workspace_kernel(const lowering& l) {
  const geometry g = kernel_geometry(l);
  return workspace_of(l, g, kernel_product(g), [&](bool wide) {
    return wide ? kernel_gradient_workspace<double>(forward_of(g)) : kernel_gradient_workspace<float>(forward_of(g));
  });
}

using in = const gradient_input&;
using list = std::vector<symbol>;

}  // namespace

namespace ops {
const operation conv2d{.name = "conv2d",
                       .gradient =
                           [](in i) {
                             const auto& w = i.n.attr.window;
                             return list{
                                 troupe::conv2d_image_gradient(i.dy, i.x[1], symbol_shape{i.x[0].dims()}, w, i.at),
                                 troupe::conv2d_kernel_gradient(i.x[0], i.dy, symbol_shape{i.x[1].dims()}, w, i.at)};
                           },
                       .lower = lower_conv2d,
                       .workspace = workspace_forward,
                       .flops = [](const lowering& l) { return forward_geometry(l).flops(); }};
}  // namespace ops

symbol convolve(symbol x, symbol kernel, symbol_shape dims, const windows& w, std::source_location at) {
  attributes attr;
  attr.window = w;
  return append(*x.owner(), ops::conv2d, {x, kernel}, x.type(), std::move(dims), at, std::move(attr));
}

namespace ops {
const operation conv2d_image_gradient{
    .name = "conv2d_image_gradient",
    .gradient =
        [](in i) {
          const auto& w = i.n.attr.window;
          return list{convolve(i.dy, i.x[1], symbol_shape{i.x[0].dims()}, w, i.at),
                      troupe::conv2d_kernel_gradient(i.dy, i.x[0], symbol_shape{i.x[1].dims()}, w, i.at)};
        },
    .lower = lower_image_gradient,
    .workspace = workspace_image,
    .flops = [](const lowering& l) { return image_geometry(l).flops(); }};
const operation conv2d_kernel_gradient{
    .name = "conv2d_kernel_gradient",
    .gradient =
        [](in i) {
          const auto& w = i.n.attr.window;
          return list{troupe::conv2d_image_gradient(i.x[1], i.dy, symbol_shape{i.x[0].dims()}, w, i.at),
                      convolve(i.x[0], i.dy, symbol_shape{i.x[1].dims()}, w, i.at)};
        },
    .lower = lower_kernel_gradient,
    .workspace = workspace_kernel,
    .flops = [](const lowering& l) { return kernel_geometry(l).flops(); }};
}  // namespace ops

symbol conv2d_image_gradient(symbol dy, symbol kernel, symbol_shape image, const windows& w, std::source_location at) {
  if (!dy.valid() || !kernel.valid())
    return dy.valid() ? kernel : dy;
  attributes attr;
  attr.window = w;
  return append(*dy.owner(), ops::conv2d_image_gradient, {dy, kernel}, dy.type(), std::move(image), at,
                std::move(attr));
}

symbol conv2d_kernel_gradient(symbol x, symbol dy, symbol_shape kernel, const windows& w, std::source_location at) {
  if (!x.valid() || !dy.valid())
    return x.valid() ? dy : x;
  attributes attr;
  attr.window = w;
  return append(*x.owner(), ops::conv2d_kernel_gradient, {x, dy}, x.type(), std::move(kernel), at, std::move(attr));
}

}  // namespace troupe
