#include "compute/nn/layer.hpp"
#include "compute/operations/windows/windows.hpp"

#include <troupe/nn/convolution_layers.hpp>

#include <algorithm>

namespace troupe::nn {
namespace {

using pair = std::array<int64_t, 2>;

/// A count that must be at least 1.
struct count {
  std::string_view name;
  int64_t value;
};
count of_kernel(pair size) { return {"kernel_size", std::min(size[0], size[1])}; }

/// The graph of x. Null, with an error kept in the graph, if x is not an image or a count is below 1.
graph* checked(std::string_view layer, symbol x, std::initializer_list<count> counts, std::source_location at) {
  graph* g = common_graph(layer, {x}, at);
  if (!g)
    return nullptr;
  if (!is_image(x)) {
    refuse(*g, layer,
           "operand must be floating [batch, height, width, channels] with known extents, not " + describe(x), at);
    return nullptr;
  }
  for (const auto& [name, value] : counts)
    if (value < 1) {
      refuse(*g, layer, std::string{name} + " must be at least 1, not " + std::to_string(value), at);
      return nullptr;
    }
  return g;
}

/// activation(y + bias). The bias is a variable in the current scope.
symbol finished(symbol y, int64_t outputs, bool bias, troupe::activation activation, std::source_location at) {
  if (bias && y.valid())
    y = add(y, y.owner()->variable({.name = "bias", .dims = {outputs}, .type = y.type()}, at), at);
  return activation ? activation(y, at) : y;
}

/// A depthwise convolution, whose kernel is a variable in the current scope.
symbol depthwise(symbol x, pair size, int64_t multiplier, const initializer& initial, troupe::conv2d_options options,
                 std::source_location at) {
  const symbol kernel = x.owner()->variable({.name = "depthwise_kernel",
                                             .dims = {size[0], size[1], features_of(x), multiplier},
                                             .type = x.type(),
                                             .initial = initial},
                                            at);
  return troupe::depthwise_conv2d(x, kernel, options, at);
}

troupe::pool_options pooled(pair size, pair strides, troupe::padding padding) {
  for (size_t i = 0; i < 2; ++i)
    strides[i] = strides[i] == 0 ? size[i] : strides[i];
  return {.size = size, .strides = strides, .padding = padding};
}

}  // namespace

symbol conv2d(symbol x, conv2d_options o, std::source_location at) {
  graph* g = checked("conv2d", x, {{"filters", o.filters}, of_kernel(o.kernel_size), {"groups", o.groups}}, at);
  if (!g)
    return invalid_of({x});
  if (features_of(x) % o.groups != 0 || o.filters % o.groups != 0)
    return refuse(*g, "conv2d",
                  "groups must divide the filters and the channels of its operand: " + std::to_string(o.groups)
                      + " do not divide " + std::to_string(o.filters) + " filters and " + describe(x),
                  at);
  const auto scope = g->scope(o.name);
  const symbol kernel = g->variable({.name = "kernel",
                                     .dims = {o.kernel_size[0], o.kernel_size[1], features_of(x) / o.groups, o.filters},
                                     .type = x.type(),
                                     .initial = o.kernel},
                                    at);
  const symbol y = troupe::conv2d(
      x, kernel, {.strides = o.strides, .dilation = o.dilation, .padding = o.padding, .groups = o.groups}, at);
  return finished(y, o.filters, o.bias, o.activation, at);
}

symbol conv2d_transpose(symbol x, conv2d_transpose_options o, std::source_location at) {
  graph* g = checked("conv2d_transpose", x, {{"filters", o.filters}, of_kernel(o.kernel_size)}, at);
  if (!g)
    return invalid_of({x});
  const auto scope = g->scope(o.name);
  const symbol kernel = g->variable({.name = "kernel",
                                     .dims = {o.kernel_size[0], o.kernel_size[1], o.filters, features_of(x)},
                                     .type = x.type(),
                                     .initial = o.kernel},
                                    at);
  return finished(troupe::conv2d_transpose(x, kernel, {.strides = o.strides, .padding = o.padding}, at), o.filters,
                  o.bias, o.activation, at);
}

symbol depthwise_conv2d(symbol x, depthwise_conv2d_options o, std::source_location at) {
  graph* g = checked("depthwise_conv2d", x, {of_kernel(o.kernel_size), {"depth_multiplier", o.depth_multiplier}}, at);
  if (!g)
    return invalid_of({x});
  const auto scope = g->scope(o.name);
  const symbol y = depthwise(x, o.kernel_size, o.depth_multiplier, o.kernel,
                             {.strides = o.strides, .dilation = o.dilation, .padding = o.padding}, at);
  return finished(y, y.valid() ? features_of(y) : 0, o.bias, o.activation, at);
}

symbol separable_conv2d(symbol x, separable_conv2d_options o, std::source_location at) {
  graph* g = checked("separable_conv2d", x,
                     {{"filters", o.filters}, of_kernel(o.kernel_size), {"depth_multiplier", o.depth_multiplier}}, at);
  if (!g)
    return invalid_of({x});
  const auto scope = g->scope(o.name);
  const symbol each = depthwise(x, o.kernel_size, o.depth_multiplier, o.kernel,
                                {.strides = o.strides, .dilation = o.dilation, .padding = o.padding}, at);
  if (!each.valid())
    return each;
  const symbol kernel = g->variable(
      {.name = "pointwise_kernel", .dims = {1, 1, features_of(each), o.filters}, .type = x.type(), .initial = o.kernel},
      at);
  return finished(troupe::conv2d(each, kernel, {}, at), o.filters, o.bias, o.activation, at);
}

symbol max_pool(symbol x, max_pool_options o, std::source_location at) {
  return troupe::max_pool(x, pooled(o.size, o.strides, o.padding), at);
}
symbol average_pool(symbol x, average_pool_options o, std::source_location at) {
  return troupe::average_pool(x, pooled(o.size, o.strides, o.padding), at);
}

symbol global_max_pool(symbol x, std::source_location at) {
  return checked("global_max_pool", x, {}, at) ? troupe::global_max_pool(x, at) : invalid_of({x});
}
symbol global_average_pool(symbol x, std::source_location at) {
  return checked("global_average_pool", x, {}, at) ? troupe::global_average_pool(x, at) : invalid_of({x});
}

symbol flatten(symbol x, std::source_location at) {
  graph* g = common_graph("flatten", {x}, at);
  if (!g)
    return x;
  const auto elements = x.rank() > 0 ? known_elements({x.dims().begin() + 1, x.dims().end()}) : std::nullopt;
  if (!elements)
    return refuse(*g, "flatten", "operand must be [batch, ...] with known extents after the first, not " + describe(x),
                  at);
  return x.rank() == 2 ? x : reshape(x, {x.dims()[0], extent{*elements}}, at);
}

symbol dropout(symbol x, bool training, dropout_options options, std::source_location at) {
  return troupe::dropout(x, options.rate, training, at);
}

}  // namespace troupe::nn
