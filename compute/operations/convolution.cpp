// Convolutions as matrix products with patches of the image, which are packed block by block and never laid out as a whole.
//
// The three operations are each other's gradients: y = x * k is linear in both, and each of y, dx and dk is the product of
// the other two under the same windows.
#include "compute/operations/windows.hpp"
#include "compute/planner/plan.hpp"

namespace troupe {
namespace {

enum at { image_at, kernel_at, output_at, workspace_at };

/// The extents that all three operations have, whichever of them are operands.
struct geometry {
  int64_t batch, height, width, channels;   ///< x
  int64_t rows, columns, outputs;           ///< y
  int64_t taps, groups;
  int64_t group_channels() const { return channels / groups; }
  int64_t group_outputs() const { return outputs / groups; }
};

geometry geometry_of(const shape& x, const shape& y, const windows& w) {
  return {x[0], x[1], x[2], x[3], y[1], y[2], y[3], w.y.size * w.x.size, w.groups};
}

image_patches::axis patches_of(const windows::axis& w) { return {w.size, w.stride, w.dilation, w.pad, 1}; }
/// Backwards: the output that an element of the image took part in with an element of the kernel, where there is one.
image_patches::axis patches_back(const windows::axis& w) { return {w.size, 1, -w.dilation, -w.pad, w.stride}; }

gemm_shape forward_shape(const geometry& g) {
  return {.m = g.batch * g.rows * g.columns, .n = g.group_outputs(), .k = g.taps * g.group_channels(), .patches = true};
}
gemm_shape image_shape(const geometry& g) {
  return {.m = g.batch * g.height * g.width, .n = g.group_channels(), .k = g.taps * g.group_outputs(), .patches = true};
}
gemm_shape kernel_shape(const geometry& g) {
  return {.m = g.taps * g.group_channels(), .n = g.group_outputs(), .k = g.batch * g.rows * g.columns, .transpose_a = true, .patches = true};
}

/// The groups of a call: n = {m, n, k, groups}. Offsets from group to group are one group's share of the innermost axis.
gemm_shape shape_of(const kernel_call& c, bool transpose_a) {
  return {c.n[0], c.n[1], c.n[2], transpose_a, false, true};
}

/// y of the patches, or, with them transposed, the gradient of the kernel.
template <class T, bool Transposed>
void patches_kernel(const kernel_call& c, run_state& s) {
  const gemm_shape one = shape_of(c, Transposed);
  const int64_t groups = c.n[3], outputs = one.n * groups;
  for (int64_t g = 0; g < groups; ++g)
    gemm<T>(one, {.a = c.to<const T>(s, image_at) + g * c.image->channels, .b = c.to<const T>(s, kernel_at) + g * one.n,
                  .c = c.to<T>(s, output_at) + g * one.n, .image = c.image, .ldb = outputs, .ldc = outputs},
            c.maybe<std::byte>(s, workspace_at));
}

/// Here the image is dy; the kernel is turned to [taps, outputs, channels] first.
template <class T>
void image_gradient_kernel(const kernel_call& c, run_state& s) {
  const gemm_shape one = shape_of(c, false);
  const int64_t groups = c.n[3], channels = one.n * groups, outputs = c.image->channels, taps = one.k / outputs;
  auto* turned = c.to<T>(s, workspace_at);
  auto* workspace = reinterpret_cast<std::byte*>(turned) + c.key;
  for (int64_t g = 0; g < groups; ++g) {
    const T* kernel = c.to<const T>(s, kernel_at) + g * outputs;
    for (int64_t tap = 0; tap < taps; ++tap)
      for (int64_t i = 0; i < one.n; ++i)
        for (int64_t o = 0; o < outputs; ++o)
          turned[(tap * outputs + o) * one.n + i] = kernel[(tap * one.n + i) * outputs * groups + o];
    gemm<T>(one, {.a = c.to<const T>(s, image_at) + g * outputs, .b = turned, .c = c.to<T>(s, output_at) + g * one.n, .image = c.image, .ldc = channels}, workspace);
  }
}

int64_t turned_bytes(const gemm_shape& s, int64_t size) { return (s.k * s.n * size + 63) / 64 * 64; }

template <class F>
int64_t workspace_of(const lowering& l, const gemm_shape& s, F extra) {
  const dtype t = l.out().type;
  return (t == dtype::float64 ? gemm_workspace<double>(s) : gemm_workspace<float>(s)) + extra(size_of(t));
}

geometry forward_geometry(const lowering& l) { return geometry_of(l.in(0).dims, l.out().dims, l.call.attr.window); }
geometry kernel_geometry(const lowering& l) { return geometry_of(l.in(0).dims, l.in(1).dims, l.call.attr.window); }
geometry image_geometry(const lowering& l) { return geometry_of(l.out().dims, l.in(0).dims, l.call.attr.window); }

void lower_product(lowering& l, const gemm_shape& s, const geometry& g, const image_patches& image) {
  auto& k = l.kernel;
  k.at[image_at] = l.in_at(0);
  k.at[kernel_at] = l.in_at(1);
  k.at[output_at] = l.out_at();
  k.at[workspace_at] = l.workspace();
  k.n[0] = s.m;
  k.n[1] = s.n;
  k.n[2] = s.k;
  k.n[3] = g.groups;
  auto& kept = l.new_image();
  kept = image;
  k.image = &kept;
}

image_patches image_of(const geometry& g, const windows& w) {
  return {g.height, g.width, g.group_channels(), g.channels, g.rows, g.columns, patches_of(w.y), patches_of(w.x)};
}

void lower_conv2d(lowering& l) {
  const geometry g = forward_geometry(l);
  lower_product(l, forward_shape(g), g, image_of(g, l.call.attr.window));
  l.run(l.out().type, patches_kernel<float, false>, patches_kernel<double, false>);
}

void lower_kernel_gradient(lowering& l) {
  const geometry g = kernel_geometry(l);
  lower_product(l, kernel_shape(g), g, image_of(g, l.call.attr.window));
  l.run(l.out().type, patches_kernel<float, true>, patches_kernel<double, true>);
}

void lower_image_gradient(lowering& l) {
  const geometry g = image_geometry(l);
  const windows& w = l.call.attr.window;
  const gemm_shape s = image_shape(g);
  lower_product(l, s, g, {g.rows, g.columns, g.group_outputs(), g.outputs, g.height, g.width, patches_back(w.y), patches_back(w.x)});
  l.kernel.key = static_cast<uint64_t>(turned_bytes(s, size_of(l.out().type)));
  l.run(l.out().type, image_gradient_kernel<float>, image_gradient_kernel<double>);
}

constexpr auto nothing_more = [](int64_t) { return int64_t{0}; };
int64_t workspace_forward(const lowering& l) { return workspace_of(l, forward_shape(forward_geometry(l)), nothing_more); }
int64_t workspace_kernel(const lowering& l) { return workspace_of(l, kernel_shape(kernel_geometry(l)), nothing_more); }
int64_t workspace_image(const lowering& l) {
  const gemm_shape s = image_shape(image_geometry(l));
  return workspace_of(l, s, [&](int64_t size) { return turned_bytes(s, size); });
}

int64_t flops_of(const geometry& g) { return 2 * g.batch * g.rows * g.columns * g.outputs * g.taps * g.group_channels(); }

using in = const gradient_input&;
using list = std::vector<symbol>;

}  // namespace

namespace ops {
const operation conv2d{.name = "conv2d", .gradient = [](in i) {
                         const auto& w = i.n.attr.window;
                         return list{troupe::conv2d_image_gradient(i.dy, i.x[1], symbol_shape{i.x[0].dims()}, w, i.at),
                                     troupe::conv2d_kernel_gradient(i.x[0], i.dy, symbol_shape{i.x[1].dims()}, w, i.at)};
                       }, .lower = lower_conv2d, .workspace = workspace_forward, .flops = [](const lowering& l) { return flops_of(forward_geometry(l)); }};
}  // namespace ops

namespace {

/// conv2d under windows that are placed.
symbol convolve(symbol x, symbol kernel, symbol_shape dims, const windows& w, std::source_location at) {
  attributes attr;
  attr.window = w;
  return append(*x.owner(), ops::conv2d, {x, kernel}, x.type(), std::move(dims), at, std::move(attr));
}

}  // namespace

namespace ops {
const operation conv2d_image_gradient{.name = "conv2d_image_gradient", .gradient = [](in i) {
                                        const auto& w = i.n.attr.window;
                                        return list{convolve(i.dy, i.x[1], symbol_shape{i.x[0].dims()}, w, i.at),
                                                    troupe::conv2d_kernel_gradient(i.dy, i.x[0], symbol_shape{i.x[1].dims()}, w, i.at)};
                                      }, .lower = lower_image_gradient, .workspace = workspace_image,
                                      .flops = [](const lowering& l) { return flops_of(image_geometry(l)); }};
const operation conv2d_kernel_gradient{.name = "conv2d_kernel_gradient", .gradient = [](in i) {
                                         const auto& w = i.n.attr.window;
                                         return list{troupe::conv2d_image_gradient(i.x[1], i.dy, symbol_shape{i.x[0].dims()}, w, i.at),
                                                     convolve(i.x[0], i.dy, symbol_shape{i.x[1].dims()}, w, i.at)};
                                       }, .lower = lower_kernel_gradient, .workspace = workspace_kernel,
                                       .flops = [](const lowering& l) { return flops_of(kernel_geometry(l)); }};
}  // namespace ops

symbol conv2d_image_gradient(symbol dy, symbol kernel, symbol_shape image, const windows& w, std::source_location at) {
  if (!dy.valid() || !kernel.valid())
    return dy.valid() ? kernel : dy;
  attributes attr;
  attr.window = w;
  return append(*dy.owner(), ops::conv2d_image_gradient, {dy, kernel}, dy.type(), std::move(image), at, std::move(attr));
}

symbol conv2d_kernel_gradient(symbol x, symbol dy, symbol_shape kernel, const windows& w, std::source_location at) {
  if (!x.valid() || !dy.valid())
    return x.valid() ? dy : x;
  attributes attr;
  attr.window = w;
  return append(*x.owner(), ops::conv2d_kernel_gradient, {x, dy}, x.type(), std::move(kernel), at, std::move(attr));
}

namespace {

/// The graph of an image and a kernel [height, width, any, any] of known extents; null (and the reason kept) otherwise.
graph* checked(std::string_view name, symbol x, symbol kernel, const conv2d_options& o, windows& w, std::source_location at) {
  graph* g = common_graph(name, {x, kernel}, at);
  if (!g)
    return nullptr;
  const bool known = kernel.rank() == 4 && known_elements(kernel.dims()).value_or(0) > 0;
  if (!is_image(x) || !known || kernel.type() != x.type()) {
    refuse(*g, name, "needs floating [batch, height, width, channels] and a kernel of rank 4 with known extents, not " + describe(x) + " and " + describe(kernel), at);
    return nullptr;
  }
  w.y = {kernel.dims()[0].coefficient, o.strides[0], o.dilation[0], 0};
  w.x = {kernel.dims()[1].coefficient, o.strides[1], o.dilation[1], 0};
  w.groups = o.groups;
  return g;
}

symbol invalid_of(symbol x) { return x.owner() ? x.owner()->make_symbol(-1) : symbol{}; }

}  // namespace

symbol conv2d(symbol x, symbol kernel, conv2d_options options, std::source_location at) {
  windows w;
  graph* g = checked("conv2d", x, kernel, options, w, at);
  if (!g)
    return invalid_of(x);
  const int64_t channels = x.dims()[3].coefficient, outputs = kernel.dims()[3].coefficient;
  if (w.groups < 1 || channels % w.groups != 0 || outputs % w.groups != 0 || kernel.dims()[2].coefficient != channels / w.groups)
    return refuse(*g, "conv2d", "a kernel " + to_string(*g, kernel.dims()) + " in " + std::to_string(w.groups) + " groups does not fit the "
                                  + std::to_string(channels) + " channels of " + describe(x), at);
  const auto count = place_windows("conv2d", w, x, options.padding, at);
  return count ? convolve(x, kernel, {x.dims()[0], extent{(*count)[0]}, extent{(*count)[1]}, extent{outputs}}, w, at) : invalid_of(x);
}

symbol depthwise_conv2d(symbol x, symbol kernel, conv2d_options options, std::source_location at) {
  windows w;
  graph* g = checked("depthwise_conv2d", x, kernel, options, w, at);
  if (!g)
    return invalid_of(x);
  const auto& k = kernel.dims();
  if (k[2] != x.dims()[3])
    return refuse(*g, "depthwise_conv2d", "the third axis of the kernel " + to_string(*g, k) + " must be the channels of " + describe(x), at);
  options.groups = k[2].coefficient;
  return conv2d(x, reshape(kernel, {k[0], k[1], extent{1}, extent{k[2].coefficient * k[3].coefficient}}, at), options, at);
}

symbol conv2d_transpose(symbol x, symbol kernel, conv2d_options options, std::source_location at) {
  windows w;
  graph* g = checked("conv2d_transpose", x, kernel, options, w, at);
  if (!g)
    return invalid_of(x);
  const int64_t channels = x.dims()[3].coefficient, outputs = kernel.dims()[2].coefficient * w.groups;
  if (w.groups < 1 || channels % w.groups != 0 || kernel.dims()[3].coefficient != channels)
    return refuse(*g, "conv2d_transpose", "a kernel " + to_string(*g, kernel.dims()) + " in " + std::to_string(w.groups) + " groups does not fit the "
                                            + std::to_string(channels) + " channels of " + describe(x), at);
  const auto extent_of = [&](int64_t count, const windows::axis& a) {
    const int64_t span = product_within_limit(count, a.stride).value_or(elements_max);  // An image so large is refused.
    return options.padding == padding::same ? span : span - a.stride + (a.size - 1) * a.dilation + 1;
  };
  for (auto* a : {&w.y, &w.x})
    if (a->stride < 1 || a->dilation < 1 || a->stride > window_most || a->dilation > window_most || a->size > window_most)
      return refuse(*g, "conv2d_transpose", "strides, dilation and the extents of the kernel must be from 1 to 2^20", at);
  symbol_shape image{x.dims()[0], extent{extent_of(x.dims()[1].coefficient, w.y)}, extent{extent_of(x.dims()[2].coefficient, w.x)}, extent{outputs}};
  place_windows(w.y, image[1].coefficient, options.padding);
  place_windows(w.x, image[2].coefficient, options.padding);
  return conv2d_image_gradient(x, kernel, std::move(image), w, at);
}

}  // namespace troupe
