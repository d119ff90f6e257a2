// Convolutions of symbols: checks operands and options, and places the windows.
#include "compute/operations/lowering.hpp"
#include "compute/operations/windows/windows.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// The graph of an image and a kernel [height, width, any, any] of known extents. Null, with an error kept in the
/// graph, if they do not fit.
graph* checked(std::string_view name, symbol x, symbol kernel, const conv2d_options& o, windows& w,
               std::source_location at) {
  graph* g = common_graph(name, {x, kernel}, at);
  if (!g)
    return nullptr;
  const bool known = kernel.rank() == 4 && known_elements(kernel.dims()).value_or(0) > 0;
  if (!is_image(x) || !known || kernel.type() != x.type()) {
    refuse(*g, name,
           "needs floating [batch, height, width, channels] and a kernel of rank 4 with known extents, not "
               + describe(x) + " and " + describe(kernel),
           at);
    return nullptr;
  }
  w.y = {kernel.dims()[0].coefficient, o.strides[0], o.dilation[0], 0};
  w.x = {kernel.dims()[1].coefficient, o.strides[1], o.dilation[1], 0};
  w.groups = o.groups;
  return g;
}

symbol invalid_of(symbol x) { return x.owner() ? symbol_of(*x.owner(), -1) : symbol{}; }

}  // namespace

symbol conv2d(symbol x, symbol kernel, conv2d_options options, std::source_location at) {
  windows w;
  graph* g = checked("conv2d", x, kernel, options, w, at);
  if (!g)
    return invalid_of(x);
  const int64_t channels = x.dims()[3].coefficient, outputs = kernel.dims()[3].coefficient;
  if (w.groups < 1 || channels % w.groups != 0 || outputs % w.groups != 0
      || kernel.dims()[2].coefficient != channels / w.groups)
    return refuse(*g, "conv2d",
                  "a kernel " + to_string(*g, kernel.dims()) + " in " + std::to_string(w.groups)
                      + " groups does not fit the " + std::to_string(channels) + " channels of " + describe(x),
                  at);
  const auto count = place_windows("conv2d", w, x, options.padding, at);
  return count ? convolve(x, kernel, {x.dims()[0], extent{(*count)[0]}, extent{(*count)[1]}, extent{outputs}}, w, at)
               : invalid_of(x);
}

symbol depthwise_conv2d(symbol x, symbol kernel, conv2d_options options, std::source_location at) {
  windows w;
  graph* g = checked("depthwise_conv2d", x, kernel, options, w, at);
  if (!g)
    return invalid_of(x);
  const auto& k = kernel.dims();
  if (k[2] != x.dims()[3])
    return refuse(*g, "depthwise_conv2d",
                  "the third axis of the kernel " + to_string(*g, k) + " must be the channels of " + describe(x), at);
  options.groups = k[2].coefficient;
  return conv2d(x, reshape(kernel, {k[0], k[1], extent{1}, extent{k[2].coefficient * k[3].coefficient}}, at), options,
                at);
}

symbol conv2d_transpose(symbol x, symbol kernel, conv2d_options options, std::source_location at) {
  windows w;
  graph* g = checked("conv2d_transpose", x, kernel, options, w, at);
  if (!g)
    return invalid_of(x);
  const int64_t channels = x.dims()[3].coefficient, outputs = kernel.dims()[2].coefficient * w.groups;
  if (w.groups < 1 || channels % w.groups != 0 || kernel.dims()[3].coefficient != channels)
    return refuse(*g, "conv2d_transpose",
                  "a kernel " + to_string(*g, kernel.dims()) + " in " + std::to_string(w.groups)
                      + " groups does not fit the " + std::to_string(channels) + " channels of " + describe(x),
                  at);
  const auto extent_of = [&](int64_t count, const windows::axis& a) {
    // Too large: the image is refused.
    const int64_t span = product_within_limit(count, a.stride).value_or(elements_max);
    return options.padding == padding::same ? span
                                            : span + std::max<int64_t>((a.size - 1) * a.dilation + 1 - a.stride, 0);
  };
  for (auto* a : {&w.y, &w.x})
    if (a->stride < 1 || a->dilation < 1 || a->stride > window_most || a->dilation > window_most
        || a->size > window_most)
      return refuse(*g, "conv2d_transpose", "strides, dilation and the extents of the kernel must be from 1 to 2^20",
                    at);
  symbol_shape image{x.dims()[0], extent{extent_of(x.dims()[1].coefficient, w.y)},
                     extent{extent_of(x.dims()[2].coefficient, w.x)}, extent{outputs}};
  place_windows(w.y, image[1].coefficient, options.padding);
  place_windows(w.x, image[2].coefficient, options.padding);
  return conv2d_image_gradient(x, kernel, std::move(image), w, at);
}

}  // namespace troupe
