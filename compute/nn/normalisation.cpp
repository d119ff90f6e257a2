#include "compute/nn/layer.hpp"

#include <troupe/nn/normalisation.hpp>

namespace troupe::nn {
namespace {

/// A constant of the layer, in x's dtype.
symbol number(symbol x, double value, std::source_location at) { return fill(*x.owner(), value, x.type(), {}, at); }

/// The last `count` axes.
std::vector<int> last_axes(int count) {
  std::vector<int> axes;
  for (int i = count; i > 0; --i)
    axes.push_back(-i);
  return axes;
}

/// Why a layer that normalises each row over its last axes cannot take x; empty when it can.
std::string trouble_with_rows(symbol x, int axes, double epsilon) {
  bool fits = is_floating(x.type()) && axes >= 1 && axes <= x.rank();
  for (int i = 0; fits && i < axes; ++i)
    fits = x.dims()[x.dims().size() - 1 - static_cast<size_t>(i)].known();
  if (!fits)
    return "the last " + std::to_string(axes) + " axes must be known extents of a floating operand, not of "
           + describe(x);
  return epsilon >= 0 ? "" : "epsilon must be at least 0, not " + std::to_string(epsilon);
}

/// y · gamma + beta. Both are variables in the current scope.
symbol rescale(symbol y, const shape& dims, bool gamma, bool beta, std::source_location at) {
  graph& g = *y.owner();
  if (gamma)
    y = mul(y, g.variable({.name = "gamma", .dims = dims, .type = y.type(), .initial = init::ones()}, at), at);
  if (beta)
    y = add(y, g.variable({.name = "beta", .dims = dims, .type = y.type()}, at), at);
  return y;
}

shape extents_of(symbol x, int axes) { return known_shape({x.dims().end() - axes, x.dims().end()}); }

}  // namespace

symbol layer_norm(symbol x, layer_norm_options options, std::source_location at) {
  graph* g = common_graph("layer_norm", {x}, at);
  if (!g)
    return x;
  if (auto trouble = trouble_with_rows(x, options.axes, options.epsilon); !trouble.empty())
    return refuse(*g, "layer_norm", std::move(trouble), at);
  const auto scope = g->scope(options.name);
  const shape dims = extents_of(x, options.axes);
  const symbol rows = options.axes == 1 ? x : reshape(x, {extent{-1}, extent{dims.elements()}}, at);
  const symbol y = normalise_rows(rows, options.epsilon, at);
  return rescale(options.axes == 1 ? y : reshape(y, symbol_shape{x.dims()}, at), dims, options.gamma, options.beta, at);
}

symbol rms_norm(symbol x, rms_norm_options options, std::source_location at) {
  graph* g = common_graph("rms_norm", {x}, at);
  if (!g)
    return x;
  if (auto trouble = trouble_with_rows(x, options.axes, options.epsilon); !trouble.empty())
    return refuse(*g, "rms_norm", std::move(trouble), at);
  const auto scope = g->scope(options.name);
  const symbol mean = reduce_mean(square(x, at), {last_axes(options.axes), true}, at);
  const symbol y = mul(x, rsqrt(add(mean, number(x, options.epsilon, at), at), at), at);
  return rescale(y, extents_of(x, options.axes), options.gamma, false, at);
}

symbol batch_norm(symbol x, bool training, batch_norm_options options, std::source_location at) {
  graph* g = common_graph("batch_norm", {x}, at);
  if (!g)
    return x;
  if (!has_features(x, 2))
    return refuse(*g, "batch_norm",
                  "operand must be floating [batch, ..., features] with a known number of features, not " + describe(x),
                  at);
  if (!(options.momentum >= 0 && options.momentum <= 1) || !(options.epsilon >= 0))
    return refuse(*g, "batch_norm",
                  "momentum must be in [0, 1] and epsilon at least 0, not " + std::to_string(options.momentum) + " and "
                      + std::to_string(options.epsilon),
                  at);
  const auto scope = g->scope(options.name);
  const shape dims = extents_of(x, 1);
  const symbol moving_mean = g->variable({.name = "moving_mean", .dims = dims, .type = x.type(), .trainable = false},
                                         at);
  const symbol moving_variance = g->variable(
      {.name = "moving_variance", .dims = dims, .type = x.type(), .initial = init::ones(), .trainable = false}, at);
  symbol mean = moving_mean, variance = moving_variance, centred;
  if (training) {
    std::vector<int> all_but_last;
    for (int i = 0; i + 1 < x.rank(); ++i)
      all_but_last.push_back(i);
    mean = reduce_mean(x, {all_but_last, false}, at);
    centred = sub(x, mean, at);
    variance = reduce_mean(square(centred, at), {all_but_last, false}, at);
    const auto moved = [&](symbol from, symbol to) {
      return add(scale(from, options.momentum, at), scale(stop_gradient(to, at), 1 - options.momentum, at), at);
    };
    g->assign(moving_mean, moved(moving_mean, mean), at);
    g->assign(moving_variance, moved(moving_variance, variance), at);
  } else {
    centred = sub(x, mean, at);
  }
  const symbol y = mul(centred, rsqrt(add(variance, number(x, options.epsilon, at), at), at), at);
  return rescale(y, dims, options.gamma, options.beta, at);
}

}  // namespace troupe::nn
