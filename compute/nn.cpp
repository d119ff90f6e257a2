#include <troupe/nn.hpp>

#include "compute/graph.hpp"

namespace troupe::nn {

symbol dense(symbol x, dense_options options, std::source_location at) {
  graph* g = common_graph("dense", {x}, at);
  if (!g)
    return x;
  if (x.rank() != 2 || !x.dims()[1].known() || !is_floating(x.type()))
    return refuse(*g, "dense", "operand must be floating [rows, columns] with a known number of columns, not " + std::string{to_string(x.type())} + " "
                                 + to_string(*g, x.dims()), at);
  if (options.units < 1)
    return refuse(*g, "dense", "units must be at least 1, not " + std::to_string(options.units), at);
  const auto scope = g->scope(options.name);
  const symbol kernel = g->variable({.name = "kernel", .dims = {x.dims()[1].coefficient, options.units}, .type = x.type(), .initial = options.kernel}, at);
  symbol y = matmul(x, kernel, {}, at);
  if (options.bias)
    y = add(y, g->variable({.name = "bias", .dims = {options.units}, .type = x.type()}, at), at);
  return options.activation ? options.activation(y, at) : y;
}

}  // namespace troupe::nn
