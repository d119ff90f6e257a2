// Reverse-mode differentiation: Σ over paths of products of local gradients, written as operations of the same graph,
// so that what it yields can be differentiated again.
#include "compute/operation.hpp"

namespace troupe {
namespace {

/// Nodes whose value depends on one of `xs`.
std::vector<bool> dependent(const graph::impl& g, std::span<const symbol> xs) {
  std::vector<bool> marked(g.nodes.size());
  for (symbol x : xs)
    marked[static_cast<size_t>(x.node())] = true;
  for (size_t i = 0; i < g.nodes.size(); ++i)
    for (int32_t input : g.nodes[i].inputs)
      if (marked[static_cast<size_t>(input)])
        marked[i] = true;
  return marked;
}

}  // namespace

std::vector<symbol> gradients(symbol y, std::span<const symbol> xs, std::source_location at) {
  const std::vector<symbol> none(xs.size());
  graph* g = y.owner();
  for (symbol x : xs)
    if (g && (!x.valid() || x.owner() != g || !is_floating(x.type()))) {
      refuse(*g, "gradients", "an operand is not a valid floating symbol of this graph", at);
      return none;
    }
  if (!g)
    return none;
  if (!y.valid() || known_elements(y.dims()) != 1 || !is_floating(y.type())) {
    refuse(*g, "gradients", "y must be one floating number, not " + std::string{to_string(y.type())} + " " + to_string(*g, y.dims()), at);
    return none;
  }
  const auto scope = g->scope("gradients");
  const auto marked = dependent(g->internals(), xs);
  std::vector<symbol> sums(marked.size());
  sums[static_cast<size_t>(y.node())] = fill(*g, 1, y.type(), symbol_shape{y.dims()}, at);

  for (int32_t i = y.node(); i >= 0; --i) {
    const symbol dy = sums[static_cast<size_t>(i)];
    if (!dy.valid() || !marked[static_cast<size_t>(i)])
      continue;
    const node n = g->internals().nodes[static_cast<size_t>(i)];
    bool passes = false;
    for (int32_t input : n.inputs)
      passes = passes || marked[static_cast<size_t>(input)];
    if (!passes)
      continue;
    if (!n.op->gradient) {
      refuse(*g, "gradients", n.name + " has no gradient: " + std::string{n.op->no_gradient}, n.at);
      return none;
    }
    gradient_input in{*g, n, g->make_symbol(i), dy, {}, at};
    for (int32_t input : n.inputs)
      in.x.push_back(g->make_symbol(input));
    g->internals().differentiated = i;
    const auto dx = n.op->gradient(in);
    for (size_t j = 0; j < dx.size(); ++j)
      if (dx[j].valid() && marked[static_cast<size_t>(n.inputs[j])]) {
        symbol& sum = sums[static_cast<size_t>(n.inputs[j])];
        sum = sum.valid() ? add(sum, dx[j], at) : dx[j];
      }
    g->internals().differentiated = -1;
    if (g->internals().first_error)
      return none;
  }

  std::vector<symbol> result;
  for (symbol x : xs) {
    const symbol sum = sums[static_cast<size_t>(x.node())];
    result.push_back(sum.valid() ? sum : fill(*g, 0, x.type(), symbol_shape{x.dims()}, at));
  }
  return result;
}

}  // namespace troupe
