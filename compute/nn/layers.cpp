#include "compute/nn/layer.hpp"

#include <troupe/nn/layers.hpp>

namespace troupe::nn {

symbol dense(symbol x, dense_options options, std::source_location at) {
  graph* g = common_graph("dense", {x}, at);
  if (!g)
    return x;
  if (!has_features(x, 2))
    return refuse(
        *g, "dense",
        "operand must be floating [rows, columns] with a known number of columns, or have more axes before these, not "
            + describe(x),
        at);
  if (options.units < 1)
    return refuse(*g, "dense", "units must be at least 1, not " + std::to_string(options.units), at);
  const auto scope = g->scope(options.name);
  const symbol kernel = g->variable(
      {.name = "kernel", .dims = {features_of(x), options.units}, .type = x.type(), .initial = options.kernel}, at);
  // With more axes, all rows form one matrix, so that bias and activation can be fused into its product.
  const symbol rows = x.rank() == 2 ? x : reshape(x, {extent{-1}, x.dims().back()}, at);
  symbol y = matmul(rows, kernel, {}, at);
  if (options.bias)
    y = add(y, g->variable({.name = "bias", .dims = {options.units}, .type = x.type()}, at), at);
  if (options.activation)
    y = options.activation(y, at);
  return x.rank() == 2 ? y : reshape(y, with_last(x, extent{options.units}), at);
}

symbol embedding(symbol indices, embedding_options options, std::source_location at) {
  graph* g = common_graph("embedding", {indices}, at);
  if (!g)
    return indices;
  if (indices.type() != dtype::int32 && indices.type() != dtype::int64)
    return refuse(*g, "embedding", "indices must be int32 or int64, not " + describe(indices), at);
  if (options.entries < 1 || options.units < 1 || !is_floating(options.type))
    return refuse(*g, "embedding",
                  "entries and units must be at least 1 and the dtype floating, not " + std::to_string(options.entries)
                      + ", " + std::to_string(options.units) + " and " + std::string{to_string(options.type)},
                  at);
  const auto scope = g->scope(options.name);
  const symbol rows = g->variable({.name = "embeddings",
                                   .dims = {options.entries, options.units},
                                   .type = options.type,
                                   .initial = options.embeddings},
                                  at);
  return gather(rows, indices, 0, at);
}

symbol feed_forward(symbol x, feed_forward_options options, std::source_location at) {
  graph* g = common_graph("feed_forward", {x}, at);
  if (!g)
    return x;
  if (!has_features(x, 2) || options.hidden < 1 || options.units < 0 || !is_rate(options.dropout))
    return refuse(*g, "feed_forward",
                  "needs floating [..., features], hidden of at least 1, units of at least 0 and a rate in [0, 1), not "
                      + describe(x) + ", " + std::to_string(options.hidden) + ", " + std::to_string(options.units)
                      + " and " + std::to_string(options.dropout),
                  at);
  const int64_t units = options.units > 0 ? options.units : features_of(x);
  const auto scope = g->scope(options.name);
  symbol h = dense(
      x, {.units = options.hidden, .activation = options.activation, .kernel = options.kernel, .name = "hidden"}, at);
  h = troupe::dropout(h, options.dropout, options.training, at);
  return dense(h, {.units = units, .kernel = options.kernel, .name = "output"}, at);
}

symbol residual(symbol x, symbol y, residual_options options, std::source_location at) {
  graph* g = common_graph("residual", {x, y}, at);
  if (!g)
    return invalid_of({x, y});
  if (x.type() != y.type() || x.dims() != y.dims() || !is_floating(x.type()))
    return refuse(*g, "residual", "both must be floating and of one shape, not " + describe(x) + " and " + describe(y),
                  at);
  return add(x, troupe::dropout(y, options.dropout, options.training, at), at);
}

}  // namespace troupe::nn
