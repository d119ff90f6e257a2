// Reverse-mode differentiation: sums products of local gradients over all paths. It writes them as operations of the
// same graph, so that its results can be differentiated again.
#include "compute/graph/operation.hpp"

#include <algorithm>

namespace troupe {
namespace {

/// Nodes whose value depends on one of `xs`.
std::vector<bool> dependent(const graph_contents& g, std::span<const symbol> xs) {
  std::vector<bool> marked(g.nodes.size());
  for (symbol x : xs)
    marked[static_cast<size_t>(x.node())] = true;
  for (size_t i = 0; i < g.nodes.size(); ++i)
    for (int32_t input : g.nodes[i].inputs)
      if (marked[static_cast<size_t>(input)])
        marked[i] = true;
  return marked;
}

/// A value that is zero-padded along one axis and nowhere else: the gradient of a slice.
struct padded_slice {
  symbol padded;
  symbol inner;
  size_t axis = 0;
  int64_t low = 0, high = 0;

  int64_t end() const { return low + inner.dims()[axis].coefficient; }
};

std::optional<padded_slice> as_padded_slice(graph& g, symbol s) {
  const node& n = contents_of(g).nodes[static_cast<size_t>(s.node())];
  if (n.op != &ops::pad || n.attr.number != 0)
    return {};
  std::optional<padded_slice> found;
  for (size_t axis = 0; axis < n.attr.low.size(); ++axis) {
    if (n.attr.step[axis] != 1 || (found && (n.attr.low[axis] != 0 || n.attr.high[axis] != 0)))
      return {};
    if (n.attr.low[axis] != 0 || n.attr.high[axis] != 0)
      found = {s, symbol_of(g, n.inputs[0]), axis, n.attr.low[axis], n.attr.high[axis]};
  }
  return found;
}

/// Concatenates parts that each begin where the previous one ends, with zeros around all of them.
symbol side_by_side(std::span<const padded_slice> operands, std::source_location at) {
  const padded_slice &first = operands.front(), &last = operands.back();
  if (operands.size() == 1)
    return first.padded;
  std::vector<symbol> inner;
  for (const padded_slice& p : operands)
    inner.push_back(p.inner);
  const symbol joined = concat(inner, static_cast<int>(first.axis), at);
  if (first.low == 0 && last.high == 0)
    return joined;
  pad_options around{.low = std::vector<int64_t>(joined.dims().size()),
                     .high = std::vector<int64_t>(joined.dims().size()),
                     .between = {}};
  around.low[first.axis] = first.low;
  around.high[first.axis] = last.high;
  return pad(joined, std::move(around), at);
}

/// The least number of products for which copying their operands pays.
constexpr size_t products_min = 4;

/// Whether `s` is a matrix product aᵀ·b. The gradient of the right operand of a product has this form.
bool is_product_of_columns(const graph& g, symbol s) {
  const node& n = contents_of(g).nodes[static_cast<size_t>(s.node())];
  return n.op == &ops::matmul && n.attr.transpose_a && !n.attr.transpose_b;
}

/// Replaces many terms aᵀ·b with equal row counts, such as those of the steps of a recurrent layer, by one product with
/// all rows stacked. The terms arrive last step first; the rows are stacked in step order, which other readers of the
/// stack need too.
void join_products(graph& g, std::vector<symbol>& terms, std::source_location at) {
  std::vector<symbol> a, b, rest;
  for (symbol term : terms) {
    const node& n = contents_of(g).nodes[static_cast<size_t>(term.node())];
    const bool fits = is_product_of_columns(g, term)
                      && (a.empty() || symbol_of(g, n.inputs[0]).dims()[0] == a[0].dims()[0]);
    if (fits) {
      a.push_back(symbol_of(g, n.inputs[0]));
      b.push_back(symbol_of(g, n.inputs[1]));
    } else {
      rest.push_back(term);
    }
  }
  if (a.size() < products_min)
    return;
  std::reverse(a.begin(), a.end());
  std::reverse(b.begin(), b.end());
  const auto below_each_other = [at](const std::vector<symbol>& operands) {
    return reshape(stack(operands, 0, at), {extent{-1}, operands[0].dims()[1]}, at);
  };
  rest.push_back(matmul(below_each_other(a), below_each_other(b), {.transpose_a = true}, at));
  terms = std::move(rest);
}

/// The sum of `terms`. Gradients of adjacent slices, such as those of a split, are concatenated instead: summing n
/// padded parts would write and add n times as many zeros as there are elements.
symbol sum_of(graph& g, std::span<const symbol> terms, std::source_location at) {
  std::vector<symbol> sum;
  std::vector<padded_slice> operands;
  for (symbol term : terms)
    if (const auto p = as_padded_slice(g, term); p && (operands.empty() || p->axis == operands.front().axis))
      operands.push_back(*p);
    else
      sum.push_back(term);
  std::stable_sort(operands.begin(), operands.end(),
                   [](const padded_slice& a, const padded_slice& b) { return a.low < b.low; });
  for (auto first = operands.begin(); first != operands.end();) {
    const auto last = std::adjacent_find(first, operands.end(),
                                         [](const padded_slice& a, const padded_slice& b) { return a.end() != b.low; });
    const auto end = last == operands.end() ? last : last + 1;
    sum.push_back(side_by_side({first, end}, at));
    first = end;
  }
  join_products(g, sum, at);
  symbol total = sum.front();
  for (size_t i = 1; i < sum.size(); ++i)
    total = add(total, sum[i], at);
  return total;
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
    refuse(*g, "gradients",
           "y must be one floating number, not " + std::string{to_string(y.type())} + " " + to_string(*g, y.dims()),
           at);
    return none;
  }
  const auto scope = g->scope("gradients");
  const auto marked = dependent(contents_of(*g), xs);
  std::vector<std::vector<symbol>> terms(marked.size());  // By node: the terms of its gradient, from its readers.
  terms[static_cast<size_t>(y.node())] = {fill(*g, 1, y.type(), symbol_shape{y.dims()}, at)};

  for (int32_t i = y.node(); i >= 0; --i) {
    auto& of_node = terms[static_cast<size_t>(i)];
    if (of_node.empty() || !marked[static_cast<size_t>(i)])
      continue;
    contents_of(*g).differentiated = i;
    const symbol dy = sum_of(*g, of_node, at);
    of_node = {dy};
    contents_of(*g).differentiated = -1;
    const node n = contents_of(*g).nodes[static_cast<size_t>(i)];
    bool passes = false;
    for (int32_t input : n.inputs)
      passes = passes || marked[static_cast<size_t>(input)];
    if (!passes)
      continue;
    if (!n.op->gradient) {
      refuse(*g, "gradients", n.name + " has no gradient: " + std::string{n.op->no_gradient}, n.at);
      return none;
    }
    gradient_input in{*g, n, symbol_of(*g, i), dy, {}, at};
    for (int32_t input : n.inputs)
      in.x.push_back(symbol_of(*g, input));
    contents_of(*g).differentiated = i;
    const auto dx = n.op->gradient(in);
    for (size_t j = 0; j < dx.size(); ++j)
      if (dx[j].valid() && marked[static_cast<size_t>(n.inputs[j])])
        terms[static_cast<size_t>(n.inputs[j])].push_back(dx[j]);
    contents_of(*g).differentiated = -1;
    if (contents_of(*g).first_error)
      return none;
  }

  std::vector<symbol> result;
  for (symbol x : xs) {
    const auto& of_node = terms[static_cast<size_t>(x.node())];
    result.push_back(of_node.empty() ? fill(*g, 0, x.type(), symbol_shape{x.dims()}, at) : sum_of(*g, of_node, at));
  }
  return result;
}

}  // namespace troupe
