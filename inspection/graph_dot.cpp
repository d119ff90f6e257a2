// Writes a graph for Graphviz: scopes as clusters, variables as boxes.
#include <troupe/inspect.hpp>

#include <set>

namespace troupe {

namespace {

std::string quoted(std::string_view text) {
  std::string result = "\"";
  for (const char c : text)
    result += c == '"' || c == '\\' ? std::string{'\\', c} : c == '\n' ? std::string{"\\n"} : std::string(1, c);
  return result + "\"";
}

/// A scope of the graph: its nodes, and its inner scopes by the last part of their names.
struct drawn_scope {
  std::vector<const graph_description::node*> nodes;
  std::map<std::string, drawn_scope> inner;
};

void add(drawn_scope& to, std::string_view scope, const graph_description::node& n) {
  if (scope.empty())
    return to.nodes.push_back(&n);
  const size_t slash = std::min(scope.find('/'), scope.size());
  add(to.inner[std::string{scope.substr(0, slash)}], scope.substr(std::min(slash + 1, scope.size())), n);
}

std::string label_of(const graph_description::node& n) {
  const std::string name = n.scope.empty() ? n.name : n.name.substr(n.scope.size() + 1);
  return quoted(name + (name == n.op ? "" : "\n" + n.op) + "\n" + n.dtype + " " + n.shape);
}

void print(std::string& text, const drawn_scope& c, const std::string& path, const std::string& indent) {
  for (const auto* n : c.nodes)
    text += indent + quoted(n->name) + " [label=" + label_of(*n)
            + (n->op == "variable" ? ", shape=box, style=filled" : "")
            + (n->op == "placeholder" ? ", shape=box, style=rounded" : "") + "];\n";
  for (const auto& [name, inner] : c.inner) {
    const std::string whole = path.empty() ? name : path + "/" + name;
    text += indent + "subgraph " + quoted("cluster_" + whole) + " {\n" + indent + "  label=" + quoted(name) + ";\n";
    print(text, inner, whole, indent + "  ");
    text += indent + "}\n";
  }
}

std::string name_of(const ensemble_member& m) { return "t" + std::to_string(m.iteration) + "_" + m.builder; }

}  // namespace

std::string to_dot(const search_description& r) {
  std::string text = "digraph \"search\" {\n  rankdir=LR;\n  node [shape=box];\n";
  std::set<ensemble_member> shown;
  std::optional<std::string> before;
  const auto add_ensemble = [&](const std::string& id, const std::string& label, const std::string& style,
                                const std::vector<ensemble_member>& members) {
    text += "  " + quoted(id) + " [label=" + quoted(label) + ", shape=ellipse" + style + "];\n";
    for (const auto& m : members) {
      if (shown.insert(m).second)
        text += "  " + quoted(name_of(m)) + ";\n";
      text += "  " + quoted(name_of(m)) + " -> " + quoted(id) + ";\n";
    }
    if (before)
      text += "  " + quoted(*before) + " -> " + quoted(id) + " [style=dashed];\n";
  };
  for (const auto& i : r.finished) {
    const auto id = "iteration " + std::to_string(i.winner.iteration);
    add_ensemble(id, id + "\n" + i.spec, ", style=filled", i.winner.members);
    before = id;
  }
  for (const auto& c : r.candidates)
    add_ensemble("open " + c.spec, c.spec, "", c.members);
  return text + "}\n";
}

std::string to_dot(const graph_description& r) {
  drawn_scope top;
  for (const auto& n : r.nodes)
    add(top, n.scope, n);
  std::string text = "digraph " + quoted(r.model + " (" + std::string{to_string(r.mode)} + ")")
                     + " {\n  node [shape=ellipse];\n";
  print(text, top, "", "  ");
  for (const auto& n : r.nodes)
    for (const auto& input : n.inputs)
      text += "  " + quoted(input) + " -> " + quoted(n.name) + ";\n";
  return text + "}\n";
}

}  // namespace troupe
