// Makes the draft of a program from a graph: the nodes that the roots need, with every unknown bound.
#include "compute/planner/program_draft.hpp"

namespace troupe {

int32_t add_copy_of(program_draft& p, int32_t from) {
  planned_value v;
  v.name = p.value(from).name + "/copy";
  v.type = p.value(from).type;
  v.dims = p.value(from).dims;
  p.values.push_back(std::move(v));
  return static_cast<int32_t>(p.values.size()) - 1;
}

namespace {

std::vector<bool> needed_by(const graph_contents& g, std::span<const int32_t> roots) {
  std::vector<bool> needed(g.nodes.size());
  for (int32_t r : roots)
    needed[static_cast<size_t>(r)] = true;
  for (size_t i = g.nodes.size(); i-- > 0;)
    if (needed[i])
      for (int32_t input : g.nodes[i].inputs)
        needed[static_cast<size_t>(input)] = true;
  return needed;
}

struct binding {
  const graph_contents& g;
  std::vector<int64_t> unknowns;  ///< 0: not bound.

  expected<int64_t> number(const extent& e, const node& n) const {
    if (e.known())
      return e.coefficient;
    const auto at = static_cast<size_t>(e.unknown);
    if (unknowns[at] == 0)
      return fail(errc::invalid_argument,
                  n.name + ": the unknown '" + g.unknowns[at] + "' is not bound" + place_text(n.at));
    // Too large: `dims` refuses the whole shape.
    return product_within_limit(e.coefficient, unknowns[at]).value_or(elements_max + 1);
  }
  expected<shape> dims(const node& n) const {
    std::vector<int64_t> extents;
    for (const extent& e : n.dims) {
      auto x = number(e, n);
      if (!x)
        return fail(x.error());
      extents.push_back(*x);
    }
    std::optional<int64_t> elements = 1;
    for (int64_t e : extents)
      elements = elements ? product_within_limit(*elements, e) : elements;
    if (!elements)
      return fail(errc::invalid_argument,
                  n.name + ": " + to_string(g, n.dims) + " would have more than 2^48 elements" + place_text(n.at));
    return shape{std::span<const int64_t>{extents}};
  }
};

expected<void> bind_variable(planned_value& v, const node& n, const parameter_layout& layout) {
  const int32_t at = layout.find(n.name);
  if (at < 0)
    return fail(errc::invalid_argument, "the store has no variable named '" + n.name + "'" + place_text(n.at));
  const auto& e = layout.entries()[static_cast<size_t>(at)];
  if (e.type != v.type || e.dims != v.dims)
    return fail(errc::invalid_argument, "variable '" + n.name + "' is " + std::string{to_string(v.type)} + " "
                                            + to_text(v.dims) + " here and " + std::string{to_string(e.type)} + " "
                                            + to_text(e.dims) + " in the store" + place_text(n.at));
  v.where = {e.updated ? base_parameters : base_shared, e.offset};
  v.read_only = true;
  return {};
}

}  // namespace

expected<program_draft> bind_unknowns(const graph_contents& g, std::span<const int32_t> roots,
                                      const parameter_layout& layout, const program_options& options) {
  binding b{g, std::vector<int64_t>(g.unknowns.size())};
  for (size_t i = 0; i < g.unknowns.size(); ++i)
    b.unknowns[i] = g.unknowns[i] == "batch" ? options.batch : 0;
  const auto needed = needed_by(g, roots);
  program_draft p;
  p.seed = options.seed;
  p.values.resize(g.nodes.size());
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    const node& n = g.nodes[i];
    const bool fed = n.op == &ops::placeholder || n.op == &ops::state;
    auto& v = p.values[i];
    v.name = n.name;
    v.op = n.op;
    v.at = n.at;
    v.gradient_of = n.gradient_of;
    if (!needed[i] && !fed)
      continue;
    auto dims = b.dims(n);
    if (!dims)
      return fail(dims.error());
    v.type = n.type;
    v.dims = *dims;
    if (fed) {
      // States follow the placeholders.
      v.feed = n.attr.index + (n.op == &ops::state ? static_cast<int32_t>(g.placeholders.size()) : 0);
      v.where = {base_feeds + v.feed, 0};
      v.read_only = true;
    } else if (n.op == &ops::variable) {
      if (auto bound = bind_variable(v, n, layout); !bound)
        return fail(bound.error());
    } else if (n.op == &ops::constant) {
      v.constant = g.constants[static_cast<size_t>(n.attr.index)];
      v.read_only = true;
    } else if (n.op->view) {
      v.view_of = n.inputs[0];
      v.read_only = p.value(n.inputs[0]).read_only;
    } else {
      planned_call c{.op = n.op,
                     .in = n.inputs,
                     .out = {static_cast<int32_t>(i)},
                     .nodes = {static_cast<int32_t>(i)},
                     .attr = n.attr};
      for (const extent& e : n.attr.per) {
        auto x = b.number(e, n);
        if (!x)
          return fail(x.error());
        // Exact: the factors are below 2^48, and so is their product, which counts elements.
        c.divisor *= static_cast<double>(*x);
      }
      p.calls.push_back(std::move(c));
    }
  }
  return p;
}

}  // namespace troupe
