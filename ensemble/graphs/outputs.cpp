#include "ensemble/graphs/outputs.hpp"

#include "compute/graph/operation.hpp"
#include "ensemble/names.hpp"

#include <algorithm>

namespace troupe {

namespace {

constexpr std::string_view port_prefix = "adanet/";

bool is_check(const node& n) { return n.op == &ops::check_numerics || n.op == &ops::check_range; }

/// For each node, whether its value depends on a variable.
std::vector<bool> depends_on_variables(const graph_contents& g) {
  std::vector<bool> marked(g.nodes.size());
  for (size_t i = 0; i < g.nodes.size(); ++i) {
    const auto& n = g.nodes[i];
    marked[i] = n.op == &ops::variable || std::any_of(n.inputs.begin(), n.inputs.end(), [&](int32_t input) {
                  return marked[static_cast<size_t>(input)];
                });
  }
  return marked;
}

}  // namespace

// -- by head -------------------------------------------------------------------------

std::vector<head_symbol> heads_of(const by_head& x) {
  if (!x.is_map())
    return {{.value = x.one()}};
  std::vector<head_symbol> all;
  for (const auto& [head, value] : x.all())
    all.push_back({head, head_suffix(head_key{head}), value});
  return all;
}

symbol side_by_side(const by_head& x, const head& h) {
  if (!x.is_map())
    return x.one();
  std::vector<symbol> parts;
  for (const auto& part : h.parts)
    parts.push_back(x.all().at(part.name));
  return parts.size() == 1 ? parts.front() : concat(parts);
}

bool is_missing(const by_head& x) { return !x.is_map() && !x.one().owner(); }

std::map<std::string, symbol> outputs_of(const subnetwork& made) {
  auto all = made.outputs;
  for (const auto& [name, values] : {std::pair{logits_output, &made.logits}, {last_layer_output, &made.last_layer}})
    for (const auto& one : heads_of(*values))
      all[std::string{name} + one.suffix] = one.value;
  return all;
}

// -- between groups --------------------------------------------------------------------

std::string port_name(std::string_view spec, std::string_view output) {
  return std::string{port_prefix}.append(spec).append("/").append(output);
}

bool is_port(std::string_view feature) { return feature.starts_with(port_prefix); }

named_symbols own_data(graph& g, const named_symbols& all) {
  const auto prefix = std::string{own_data_port} + "/";
  std::map<std::string, symbol> own;
  for (const auto& [name, value] : all.all())
    if (name.starts_with(prefix))
      own[name.substr(prefix.size())] = value;
  return {&g, std::move(own)};
}

labels search_labels(graph& g, const labels& all) {
  auto searched = all.all();
  std::erase_if(searched, [](const auto& one) { return one.first.starts_with(std::string{own_data_port} + "/"); });
  return {&g, std::move(searched)};
}

features data_features(graph& g, const features& all) {
  auto own = all.all();
  std::erase_if(own, [](const auto& one) { return is_port(one.first); });
  return {&g, std::move(own)};
}

named_symbols placeholders_like(graph& other, const named_symbols& these) {
  std::map<std::string, symbol> made;
  for (const auto& [name, value] : these.all()) {
    for (const auto& unknown : contents_of(*value.owner()).unknowns)
      static_cast<void>(other.unknown(unknown));
    made[name] = other.placeholder(name, value.type(), value.dims());
  }
  return {&other, std::move(made)};
}

shape shape_of(symbol s) {
  std::vector<int64_t> extents;
  for (const auto& e : s.dims())
    extents.push_back(e.known() ? e.coefficient : 0);
  return shape{std::span<const int64_t>{extents}};
}

// -- contents --------------------------------------------------------------------------

fixed_scope::fixed_scope(graph& g, const std::string& scope) : graph_(g) {
  contents_of(g).scopes.push_back(scope.empty() ? scope : scope + "/");
}
fixed_scope::~fixed_scope() { contents_of(graph_).scopes.pop_back(); }

size_t variable_count(const graph& g) { return contents_of(g).variables.size(); }

void freeze(graph& g, size_t first) {
  auto& variables = contents_of(g).variables;
  for (size_t i = first; i < variables.size(); ++i) {
    variables[i].options.trainable = false;
    variables[i].next = -1;
  }
}

void drop_summaries(graph& g) { contents_of(g).summaries.clear(); }

void accept_any_prediction(graph& g) {
  auto& nodes = contents_of(g).nodes;
  const auto marked = depends_on_variables(contents_of(g));
  std::vector<int32_t> stand_in(nodes.size());
  for (size_t i = 0; i < nodes.size(); ++i) {
    for (int32_t& input : nodes[i].inputs)
      input = stand_in[static_cast<size_t>(input)];
    stand_in[i] = marked[i] && is_check(nodes[i]) ? nodes[i].inputs.front() : static_cast<int32_t>(i);
  }
}

void pass_error(const graph& from, graph& to) {
  if (!contents_of(to).first_error)
    contents_of(to).first_error = contents_of(from).first_error;
}

}  // namespace troupe
