#include "exports/signature_graphs.hpp"

#include <algorithm>

namespace troupe {

namespace {

constexpr std::string_view placeholder = "placeholder";

std::vector<int32_t> nodes_of(const std::map<std::string, int32_t>& outputs) {
  std::vector<int32_t> roots;
  for (const auto& [name, node] : outputs)
    roots.push_back(node);
  return roots;
}

expected<void> check(const export_content& content, const std::string& name, const stored_signature& s) {
  const auto& nodes = content.graph.nodes;
  const auto damaged = [&](const std::string& value, const std::string& what) {
    return fail(errc::data_loss, "signature '" + name + "': '" + value + "' " + what);
  };
  std::map<std::string, int32_t> outputs;
  for (const auto* values : {&s.inputs, &s.outputs})
    for (const auto& [value, v] : *values) {
      if (v.node < 0 || static_cast<size_t>(v.node) >= nodes.size())
        return damaged(value, "is node " + std::to_string(v.node) + ", which is not there");
      const auto& n = nodes[static_cast<size_t>(v.node)];
      if (n.type != v.type || n.dims != v.dims)
        return damaged(value, "is of another dtype or shape than node " + std::to_string(v.node));
      if (values == &s.outputs)
        outputs[value] = v.node;
      else if (n.operation != placeholder || n.name != value)
        return damaged(value, "is no placeholder of that name");
    }
  if (outputs.empty())
    return fail(errc::data_loss, "signature '" + name + "' has no output");
  if (signature_over(content.graph, outputs).inputs != s.inputs)
    return fail(errc::data_loss, "signature '" + name + "' does not list the inputs that its outputs need");
  return {};
}

}  // namespace

stored_part part_of(const stored_graph& whole, std::span<const int32_t> roots) {
  std::vector<bool> needed(whole.nodes.size());
  for (const int32_t r : roots)
    needed[static_cast<size_t>(r)] = true;
  for (size_t i = whole.nodes.size(); i-- > 0;)
    if (needed[i])
      for (const int32_t input : whole.nodes[i].inputs)
        needed[static_cast<size_t>(input)] = true;
  // Filled member by member: if one throws while a braced list is made, GCC 12 also destroys members that do not exist
  // yet.
  stored_part part;
  part.graph.unknowns = whole.unknowns;
  part.place.assign(whole.nodes.size(), -1);
  for (size_t i = 0; i < whole.nodes.size(); ++i)
    if (needed[i]) {
      part.place[i] = static_cast<int32_t>(part.graph.nodes.size());
      auto n = whole.nodes[i];
      for (int32_t& input : n.inputs)
        input = part.place[static_cast<size_t>(input)];
      part.graph.nodes.push_back(std::move(n));
    }
  return part;
}

stored_signature signature_over(const stored_graph& graph, const std::map<std::string, int32_t>& outputs) {
  const auto value_of = [&](int32_t node) {
    const auto& n = graph.nodes[static_cast<size_t>(node)];
    return stored_signature::value{node, n.type, n.dims};
  };
  stored_signature s;
  for (const auto& [name, node] : outputs)
    s.outputs[name] = value_of(node);
  const auto part = part_of(graph, nodes_of(outputs));
  for (size_t i = 0; i < graph.nodes.size(); ++i)
    if (part.place[i] >= 0 && graph.nodes[i].operation == placeholder)
      s.inputs[graph.nodes[i].name] = value_of(static_cast<int32_t>(i));
  return s;
}

expected<void> check_signatures(const export_content& content) {
  if (!content.signatures.contains(std::string{standard_signature}))
    return fail(errc::data_loss, "there is no signature '" + std::string{standard_signature} + "'");
  for (const auto& [name, s] : content.signatures)
    if (auto right = check(content, name, s); !right)
      return right;
  return {};
}

std::optional<shape> row_shape(const symbol_shape& dims, const std::vector<std::string>& unknowns) {
  if (dims.empty() || dims[0].known() || dims[0].coefficient != 1
      || unknowns[static_cast<size_t>(dims[0].unknown)] != "batch")
    return {};
  std::vector<int64_t> extents;
  for (size_t i = 1; i < dims.size(); ++i) {
    if (!dims[i].known())
      return {};
    extents.push_back(dims[i].coefficient);
  }
  return shape{std::span<const int64_t>{extents}};
}

}  // namespace troupe
