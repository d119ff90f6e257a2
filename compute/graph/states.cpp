// Carried states, as a model declares them.
#include "compute/graph/operation.hpp"
#include "words/text.hpp"

#include <algorithm>

namespace troupe {

namespace {

/// Whether the shape is {batch, ...}, one row for each example, with known extents of at least 1.
bool has_a_row_for_each_example(const graph_contents& g, const symbol_shape& dims) {
  if (dims.empty() || dims.front().known() || dims.front().coefficient != 1
      || g.unknowns[static_cast<size_t>(dims.front().unknown)] != "batch")
    return false;
  return std::all_of(dims.begin() + 1, dims.end(), [](const extent& e) { return e.known() && e.coefficient >= 1; });
}

}  // namespace

symbol graph::state(state_options options, std::source_location at) {
  if (options.name.empty())
    return refuse(*this, "state", "it has no name", at);
  const std::string prefix = contents_->scopes.empty() ? std::string{} : contents_->scopes.back();
  options.name = prefix + options.name;
  const std::string name = quoted(options.name);
  if (contents_->reuses_variables)
    return refuse(*this, "state", name + " is of a model that is built for two batches: such a model carries nothing",
                  at);
  if (options.name == "global_step")
    return refuse(*this, "state", "'global_step' is a reserved name: checkpoints keep the step under it", at);
  if (contents_->variable_names.contains(options.name))
    return refuse(*this, "state", "there already is a variable or a state named " + name, at);
  if (!has_a_row_for_each_example(*contents_, options.dims))
    return refuse(*this, "state",
                  name + " is " + to_string(*this, options.dims)
                      + ": it must have the batch first, and then known extents of at least 1",
                  at);
  const auto& initial = options.initial;
  if (initial.what != initializer::kind::zeros && initial.what != initializer::kind::constant)
    return refuse(*this, "state", name + " can only start from zeros or a constant", at);
  symbol s;
  if (contents_->states_are_initial) {
    s = fill(*this, initial.what == initializer::kind::zeros ? 0 : initial.a, options.type, options.dims, at);
  } else {
    attributes attr;
    attr.index = static_cast<int32_t>(contents_->states.size());
    s = append(*this, ops::state, {}, options.type, options.dims, at, std::move(attr));
    if (s.valid())
      contents_->nodes.back().name = options.name;
  }
  if (!s.valid())
    return s;
  contents_->claim(options.name);
  contents_->variable_names.insert(options.name);
  contents_->states.push_back({std::move(options), s.node()});
  return s;
}

void graph::carry(symbol state, symbol next, std::source_location at) {
  if (!common_graph("carry", {state, next}, at))
    return;
  if (state.owner() != this) {
    refuse(*this, "carry", "the state is one of another graph", at);
    return;
  }
  auto& all = contents_->states;
  const auto carried = std::find_if(all.begin(), all.end(), [&](const auto& s) { return s.node == state.node(); });
  if (carried == all.end()) {
    refuse(*this, "carry",
           "only a state can be carried, not " + contents_->nodes[static_cast<size_t>(state.node())].name, at);
    return;
  }
  const std::string name = quoted(carried->options.name);
  if (carried->next >= 0)
    refuse(*this, "carry", name + " has been carried before", at);
  else if (next.type() != state.type() || next.dims() != state.dims())
    refuse(*this, "carry",
           name + " is " + describe(state) + " and what it carries is " + describe(next)
               + ": both must be of one dtype and shape",
           at);
  else
    carried->next = next.node();
}

expected<void> check_states(const graph_contents& g) {
  for (const auto& s : g.states)
    if (s.next < 0) {
      const auto& at = g.nodes[static_cast<size_t>(s.node)].at;
      return fail(errc::invalid_argument,
                  "state: " + quoted(s.options.name) + " is never carried: call graph::carry" + place_text(at));
    }
  return {};
}

}  // namespace troupe
