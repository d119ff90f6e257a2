// Activations that are expressions of other operations. The planner fuses each into one sweep over memory.
#include "compute/operations/elementwise/elementwise.hpp"

#include <cmath>
#include <numbers>

namespace troupe {
namespace {

/// Calls `build` with the constants 0 and 1 of x's dtype, in a scope called `name`. Refuses an x that is not floating.
template <class F>
symbol expression(std::string_view name, symbol x, std::source_location at, F build) {
  graph* g = common_graph(name, {x}, at);
  if (!g)
    return x;
  if (!is_floating(x.type()))
    return refuse(*g, name, "no such operation on " + describe(x), at);
  const auto scope = g->scope(name);
  return build(fill(*g, 0, x.type(), {}, at), fill(*g, 1, x.type(), {}, at));
}

}  // namespace

symbol leaky_relu(symbol x, double slope, std::source_location at) {
  return expression("leaky_relu", x, at,
                    [&](symbol zero, symbol) { return select(greater(x, zero, at), x, scale(x, slope, at), at); });
}

symbol elu(symbol x, std::source_location at) {
  return expression("elu", x, at, [&](symbol zero, symbol) {
    // The branch that is not taken gets 0, so that it cannot overflow.
    const symbol positive = greater(x, zero, at);
    return select(positive, x, expm1(select(positive, zero, x, at), at), at);
  });
}

symbol gelu(symbol x, std::source_location at) {
  return expression("gelu", x, at, [&](symbol, symbol one) {
    return mul(scale(x, 0.5, at), add(erf(scale(x, std::numbers::sqrt2 / 2, at), at), one, at), at);
  });
}

symbol swish(symbol x, std::source_location at) {
  return expression("swish", x, at, [&](symbol, symbol) { return mul(x, sigmoid(x, at), at); });
}

}  // namespace troupe
